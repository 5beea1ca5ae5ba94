import type { Session } from "../api/wire";

/** A person who signs in without the agent. */
export interface SignIn {
  by: string;
  since: string;
}

/** Whether somebody signs in privately in this session; null also from a server that knows no such thing. */
export function privateSignInOf(session: Session): SignIn | null {
  return (session as { private_sign_in?: SignIn | null }).private_sign_in ?? null;
}
