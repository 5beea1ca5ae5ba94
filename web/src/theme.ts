/** Light, dark, or the system's choice. The only thing the pages store in the browser. */
export type Theme = "system" | "light" | "dark";

const key = "helmdeck.theme";

export function storedTheme(): Theme {
  try {
    const value = window.localStorage.getItem(key);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system"; // storage is forbidden here
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function storeTheme(theme: Theme): void {
  applyTheme(theme);
  try {
    if (theme === "system") window.localStorage.removeItem(key);
    else window.localStorage.setItem(key, theme);
  } catch {
    // storage is forbidden here: the choice lasts as long as the page
  }
}
