interface KeyboardHintProps {
  focused: boolean;
  /** What receives the keys. */
  to?: string;
}

const observable =
  "Programs in the session can read what is typed here. To sign in, use private sign-in in the Browser view.";

const noWindows =
  "Open lists are not shown in the picture: choose with the arrow keys and Enter. Choose files on the desktop.";

/** Shows where keys go, and how to get the keyboard back. Touch screens need neither. */
export function KeyboardHint({ focused, to = "desktop" }: KeyboardHintProps) {
  return (
    <span
      className="keys-only"
      // Lists and file dialogs are windows of the browser, and the picture shows only the page.
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
