//! What can be seen (decisions D11): hidden, off screen, or neither, from what each toolkit reports.

use super::native::Native;
use super::pages::Page;
use super::role::{self, native as n};
use super::state::Native as States;
use super::toolkit::Toolkit;
use agent_desktop_core::evidence::Evidence;
use agent_desktop_core::tree::raw::Grade;

/// What the ancestors say about everything below them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Above {
    /// A popup that isn't open: its items are off screen, not hidden (decisions D11).
    pub closed_popup: bool,
    /// A page or container that isn't shown.
    pub hidden: bool,
    /// A page of which nothing tells whether it is shown.
    pub unsure: bool,
    /// A container that is disabled, in toolkits that report only an element's own sensitivity.
    pub disabled: bool,
    /// Web content.
    pub in_web: bool,
    /// An item of a collection that shows other rows by the same element.
    pub in_item: bool,
    /// A list whose rows keep their elements, directly above.
    pub rows_follow: bool,
    /// A part of the content that can be scrolled out of view.
    pub scrolled: bool,
}

/// Whether an element can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing says otherwise.
    Yes,
    /// It exists on a part of the content, or in a popup, that isn't on screen now.
    Offscreen,
    /// It isn't shown at all.
    Hidden,
}

fn menuish(number: u32) -> bool {
    matches!(
        number,
        n::MENU | n::POPUP_MENU | n::MENU_ITEM | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM | n::TEAROFF_MENU_ITEM
    )
}

/// Extents by which a toolkit says "not on screen" (FINDINGS §2 "Not on screen").
pub fn sentinel(extents: (i32, i32, i32, i32)) -> bool {
    let (x, y, width, height) = extents;
    x == i32::MIN || y == i32::MIN || extents == (-1, -1, -1, -1) || width <= 0 || height <= 0
}

impl Above {
    /// What an element with these facts says about its own descendants, in addition. Where extents weren't read, they
    /// say nothing.
    #[must_use]
    pub fn below(
        self,
        number: u32,
        states: States,
        extents: &Evidence<(i32, i32, i32, i32)>,
        toolkit: Toolkit,
    ) -> Self {
        let item = role::is_item(number);
        let popup = matches!(number, n::MENU | n::POPUP_MENU | n::LIST | n::LIST_BOX | n::WINDOW);
        let gone_page = number == n::DOCUMENT_WEB
            && !self.in_web
            && toolkit.showing_is_reported()
            && !states.has(States::SHOWING)
            && !states.is_empty();
        // What only extents tell, and they weren't read, nobody knows of what is below, either.
        let unread = matches!(extents, Evidence::Unknown(_)) && self.asks_extents(number, states, toolkit);
        Self {
            unsure: self.unsure || unread,
            closed_popup: self.closed_popup || (popup && !states.has(States::VISIBLE) && !states.is_empty()),
            // The page of a background tab (FINDINGS §2 "background tabs in the tree"), a page of a stack, a container
            // that isn't visible; but not a popup that is only closed.
            hidden: self.hidden || gone_page || (!popup && self.seen(number, states, extents, toolkit) == Seen::Hidden),
            disabled: self.disabled
                || (toolkit.disabled_is_inherited() && !states.has(States::SENSITIVE) && !states.is_empty()),
            in_web: self.in_web || number == n::DOCUMENT_WEB,
            in_item: self.in_item || (item && !self.rows_follow),
            rows_follow: false,
            // A notebook's page is shown or not, wherever it stands.
            scrolled: number != n::PAGE_TAB && (self.scrolled || number == n::VIEWPORT || item),
        }
    }

    /// What is known of the page that begins here.
    #[must_use]
    pub fn on(self, page: Page) -> Self {
        Self { hidden: self.hidden || page == Page::NotShown, unsure: page == Page::Unsure, ..self }
    }

    /// What an element that was read says about its descendants, in addition.
    #[must_use]
    pub fn under(self, native: &Native, toolkit: Toolkit) -> Self {
        let number = native.role_number().unwrap_or(n::INVALID);
        let rows_follow = native.name.known().is_some_and(|name| toolkit.rows_follow(number, name));
        Self { rows_follow, ..self.below(number, native.states_or_none(), &native.extents, toolkit) }
    }

    /// Whether the address of an element here follows it.
    pub fn grade(self, number: u32, toolkit: Toolkit) -> Grade {
        if self.rows_follow && !self.in_item && role::is_item(number) {
            return Grade::Follows;
        }
        if toolkit.own_controls_follow() && !self.in_web && number != n::DOCUMENT_WEB {
            return Grade::Follows;
        }
        toolkit.grade(number, self.in_item)
    }

    /// Whether extents must tell what the states can't: scrolled out of view, or not shown at all.
    pub fn asks_extents(self, number: u32, states: States, toolkit: Toolkit) -> bool {
        if self.hidden || self.closed_popup || states.is_empty() {
            return false;
        }
        if !toolkit.showing_is_reported() {
            return !role::is_window(number) && states.has(States::VISIBLE);
        }
        toolkit.unmapped_shows_by_extents()
            && states.has(States::VISIBLE)
            && !states.has(States::SHOWING)
            && !menuish(number)
            && !role::is_item(number)
    }

    /// Whether the element can be seen.
    pub fn seen(self, number: u32, states: States, extents: &Evidence<(i32, i32, i32, i32)>, toolkit: Toolkit) -> Seen {
        // What is above it tells also of an element that tells nothing itself (Qt's disabled entries of closed menus).
        if self.hidden {
            return Seen::Hidden;
        }
        if self.closed_popup {
            return Seen::Offscreen;
        }
        if states.is_empty() {
            return Seen::Yes;
        }
        let not_shown = if menuish(number) { Seen::Offscreen } else { Seen::Hidden };
        if !states.has(States::VISIBLE) {
            return not_shown;
        }
        let extents = extents.known().copied();
        if !toolkit.showing_is_reported() {
            return match extents {
                Some(e) if sentinel(e) && !role::is_window(number) => not_shown,
                Some((x, y, width, height)) if x.saturating_add(width) <= 0 || y.saturating_add(height) <= 0 => {
                    Seen::Offscreen
                }
                _ => Seen::Yes,
            };
        }
        if states.has(States::SHOWING) {
            return Seen::Yes;
        }
        match extents {
            _ if number == n::DOCUMENT_WEB && !self.in_web => Seen::Hidden,
            // GTK 3 gives what is scrolled out of a viewport the place of what isn't shown at all, with its real size.
            Some((_, _, width, height)) if self.scrolled && width > 1 && height > 1 => Seen::Offscreen,
            Some(e) if sentinel(e) && toolkit.unmapped_shows_by_extents() && !role::is_item(number) => not_shown,
            _ => Seen::Offscreen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Toolkit::*;

    const SEEN: u64 = States::VISIBLE | States::SHOWING | States::SENSITIVE;
    const GONE: Evidence<(i32, i32, i32, i32)> = Evidence::Known((i32::MIN, i32::MIN, 1, 1));
    const REAL: Evidence<(i32, i32, i32, i32)> = Evidence::Known((10, 3_434, 40, 20));

    #[test]
    fn rows_of_a_list_box_keep_their_addresses() {
        let native = |number, name: &str| Native {
            role: Evidence::Known(number),
            name: Evidence::Known(name.to_owned()),
            states: Evidence::Known(States(SEEN)),
            ..Native::default()
        };
        let grades = |list: &str| {
            let row = Above::default().under(&native(n::LIST, list), Gtk4);
            let inside = row.under(&native(n::LIST_ITEM, ""), Gtk4);
            [row.grade(n::LIST_ITEM, Gtk4), inside.grade(n::PUSH_BUTTON, Gtk4)]
        };
        assert_eq!(grades("GtkListBox"), [Grade::Follows; 2]);
        assert_eq!(grades("GtkListView"), [Grade::Slot; 2]);
        assert_eq!(grades("People"), [Grade::Slot; 2]);
        // A view inside a row recycles again.
        let row = Above::default().under(&native(n::LIST, "GtkListBox"), Gtk4).under(&native(n::LIST_ITEM, ""), Gtk4);
        assert_eq!(row.under(&native(n::LIST, "GtkListView"), Gtk4).grade(n::LIST_ITEM, Gtk4), Grade::Slot);
    }

    #[test]
    fn scrolled_out_is_not_hidden_and_a_page_not_shown_is() {
        let seen = |s, e: &Evidence<_>, t| Above::default().seen(n::PUSH_BUTTON, States(s), e, t);
        assert_eq!(seen(SEEN, &REAL, Gtk3), Seen::Yes);
        assert_eq!(seen(States::VISIBLE, &REAL, Gtk3), Seen::Offscreen);
        assert_eq!(seen(States::VISIBLE, &GONE, Gtk3), Seen::Hidden);
        assert_eq!(seen(States::SENSITIVE, &REAL, Qt5), Seen::Hidden);
        assert_eq!(seen(States::VISIBLE, &REAL, Chromium), Seen::Offscreen);
        // FINDINGS §2: GTK 4 never reports SHOWING.
        assert_eq!(seen(States::VISIBLE, &REAL, Gtk4), Seen::Yes);
        assert_eq!(seen(States::VISIBLE, &Evidence::Known((10, 56, 0, 0)), Gtk4), Seen::Hidden);
    }

    #[test]
    fn scrolled_out_of_a_viewport_is_not_a_page_that_is_not_shown() {
        let out = Evidence::Known((i32::MIN, i32::MIN, 189, 34));
        let button = |above: Above, e: &Evidence<_>| above.seen(n::PUSH_BUTTON, States(States::VISIBLE), e, Gtk3);
        let pane = Above::default().below(n::VIEWPORT, States(SEEN), &REAL, Gtk3);
        assert_eq!(button(pane, &out), Seen::Offscreen);
        assert_eq!(button(Above::default(), &out), Seen::Hidden);
        // Never laid out: a page of a stack that was never shown.
        assert_eq!(button(pane, &GONE), Seen::Hidden);
        let page = pane.below(n::PAGE_TAB, States(SEEN), &REAL, Gtk3);
        assert_eq!(button(page, &out), Seen::Hidden);
        let item = Above::default().below(n::LIST_ITEM, States(States::VISIBLE), &out, Gtk3);
        assert_eq!(button(item, &out), Seen::Offscreen);
    }

    #[test]
    fn items_of_closed_menus_are_off_screen_only() {
        let open = Above::default();
        assert_eq!(open.seen(n::MENU_ITEM, States(States::VISIBLE), &GONE, Gtk3), Seen::Offscreen);
        let closed = open.below(n::LIST, States(States::SENSITIVE), &GONE, Qt5);
        assert_eq!(closed.seen(n::LIST_ITEM, States(SEEN), &REAL, Qt5), Seen::Offscreen);
        assert_eq!(closed.seen(n::MENU_ITEM, States(0), &REAL, Qt5), Seen::Offscreen, "a disabled entry has no states");
    }

    #[test]
    fn background_tabs_are_hidden() {
        let page = Above::default().below(n::DOCUMENT_WEB, States(States::VISIBLE), &REAL, Gecko);
        assert_eq!(page.seen(n::LINK, States(States::VISIBLE), &REAL, Gecko), Seen::Hidden);
        let shown = Above::default().below(n::DOCUMENT_WEB, States(SEEN), &REAL, Gecko);
        let frame = shown.below(n::DOCUMENT_WEB, States(States::VISIBLE), &REAL, Gecko);
        assert_eq!(frame.seen(n::LINK, States(States::VISIBLE), &REAL, Gecko), Seen::Offscreen);
    }
}
