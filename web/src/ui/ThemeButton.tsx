import { useState } from "react";
import { storeTheme, storedTheme, type Theme } from "../theme";
import { IconButton } from "./IconButton";

const next: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const icon = { system: "auto", light: "light", dark: "dark" } as const;
const name: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

export function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const change = () => {
    storeTheme(next[theme]);
    setTheme(next[theme]);
  };
  return <IconButton icon={icon[theme]} label={`Theme: ${name[theme]}`} className="quiet" onClick={change} />;
}
