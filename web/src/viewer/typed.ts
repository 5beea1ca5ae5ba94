/** What turns one text into another: so many characters erased at its end, and these typed. */
export interface Edit {
  erase: number;
  text: string;
}

/** A touch keyboard corrects and completes whole words, and tells only what its field contains afterwards. */
export function editBetween(before: string, after: string): Edit {
  const [old, now] = [[...before], [...after]];
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
  return { erase: old.length - same, text: now.slice(same).join("") };
}
