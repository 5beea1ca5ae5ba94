/** Whether the keys under the fingers are those of a Mac. */
export const mac = /^(Mac|iPhone|iPad)/.test(navigator.platform);
