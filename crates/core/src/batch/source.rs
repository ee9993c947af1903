//! Where the array of a batch comes from: the argument or a file. Standard input is read by the face that has one.

use crate::command::system::{BATCH_MAX_BYTES, Batch, BatchSource};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::Read;

/// The text of the array.
pub fn read(args: &Batch) -> Result<String> {
    match args.source()? {
        BatchSource::Text(text) => Ok(text.to_owned()),
        BatchSource::Stdin => Err(Error::invalid("standard input works on the command line only")
            .suggest("Put the array into the arguments, or use --file PATH.")),
        BatchSource::File(path) => {
            let failed = |e: std::io::Error| {
                Error::invalid("the file of the batch can't be read").kind("batch_file").platform(e.to_string())
            };
            let mut bytes = Vec::new();
            File::open(path)
                .and_then(|file| file.take(BATCH_MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
                .map_err(failed)?;
            if bytes.len() > BATCH_MAX_BYTES {
                return Err(Error::invalid(format!("a batch has at most {BATCH_MAX_BYTES} bytes")));
            }
            String::from_utf8(bytes).map_err(|_| Error::invalid("the file of the batch is not valid UTF-8"))
        }
    }
}
