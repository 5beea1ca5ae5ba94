import type { Connection } from "../viewer/connection";
import { functionKey, keysym } from "../viewer/keysym";
import { Menu } from "../ui/Menu";

const combinations: { name: string; keys: number[] }[] = [
  { name: "Ctrl+Alt+Del", keys: [keysym.Control, keysym.Alt, keysym.Delete] },
  { name: "Alt+Tab", keys: [keysym.Alt, keysym.Tab] },
  { name: "Alt+F4", keys: [keysym.Alt, functionKey(4)] },
  { name: "Super", keys: [keysym.Super] },
  { name: "Esc", keys: [keysym.Escape] },
  { name: "Tab", keys: [keysym.Tab] },
];

const functionKeys = Array.from({ length: 12 }, (_, index) => index + 1);

/** Keys that the browser or the system would intercept. */
export function KeysMenu({ connection }: { connection: () => Connection | null }) {
  return (
    <Menu icon="keycap" label="Send special keys" text="Keys">
      {() => (
        <div className="keys">
          {combinations.map(({ name, keys }) => (
            <button key={name} type="button" onClick={() => connection()?.press(keys)}>
              {name}
            </button>
          ))}
          <div className="function-keys">
            {functionKeys.map((number) => (
              <button key={number} type="button" onClick={() => connection()?.press([functionKey(number)])}>
                F{number}
              </button>
            ))}
          </div>
        </div>
      )}
    </Menu>
  );
}
