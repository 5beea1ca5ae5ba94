interface KeyboardHintProps {
  focused: boolean;
  /** Where the keys go. */
  to?: string;
}

const observable =
  "Programs in the session can read what is typed here. To sign in, use private sign-in in the Browser view.";

const noWindows =
  "A list that is opened is not in the picture: choose with the arrow keys and Enter. Files are chosen on the desktop.";

/** Says where the keyboard goes, and the way out. A touch screen has no keys to lose. */
export function KeyboardHint({ focused, to = "desktop" }: KeyboardHintProps) {
  return (
    <span
      className="keys-only"
      // Lists and file dialogs are windows of the browser, and the picture is the page's.
      title={to === "page" ? noWindows : observable}
    >
      {focused ? (
        <>
          Keyboard goes to the {to}; <kbd>Ctrl</kbd>+<kbd>Alt</kbd>+<kbd>Shift</kbd> gets it back
        </>
      ) : (
        "Click the picture to type there"
      )}
    </span>
  );
}
