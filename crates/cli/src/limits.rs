//! Limits that the caller's shell sets.

/// A file that grows beyond `ulimit -f` ends the program by a signal: without an answer, with half a file left, and
/// possibly after an action was done. Caught, the same write fails with an error that every caller of it handles. It is
/// caught and not ignored, since what is ignored stays so in programs that are started from here.
pub fn survive_file_size() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;
        let came = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        // Where it can't be caught, all is as it would be without.
        let _ = signal_hook::flag::register(SIGXFSZ, came);
    }
}
