/** Whether the keyboard is an Apple keyboard. */
export const mac = /^(Mac|iPhone|iPad)/.test(navigator.platform);
