//! X atoms used with window managers and programs.

x11rb::atom_manager! {
    /// Atom numbers, requested once per connection.
    pub(crate) Atoms: AtomsCookie {
        UTF8_STRING,
        WM_PROTOCOLS,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_DESKTOP,
        _NET_WM_WINDOW_TYPE_DIALOG,
        _NET_WM_WINDOW_TYPE_DOCK,
        CLIPBOARD,
        INCR,
        TARGETS,
        TEXT,
        TIMESTAMP,
        PLAIN: b"text/plain",
        PLAIN_UTF8: b"text/plain;charset=utf-8",
        HELMDECK_CLIPBOARD,
    }
}
