/** The difference between two texts: characters to erase at the end, and text to type. */
export interface Edit {
  erase: number;
  text: string;
}

/** A touch keyboard corrects whole words, and only reports the resulting content of its field. */
export function editBetween(before: string, after: string): Edit {
  const [old, now] = [[...before], [...after]];
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
  return { erase: old.length - same, text: now.slice(same).join("") };
}
