import { createContext, use } from "react";
import type { Identity } from "./api/wire";

const Context = createContext<Identity | null>(null);

export const IdentityProvider = Context.Provider;

/** Who is signed in. */
export function useIdentity(): Identity {
  const identity = use(Context);
  if (identity === null) throw new Error("useIdentity without a signed-in user");
  return identity;
}
