/** Chooses a credential by its name, among those that fit a pattern. Other names can be typed, as templates are possible too. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { credentialsQuery } from "@/api/credentials";
import { TextField } from "@/components/fields";
import { matchesGlob } from "@/lib/glob";

interface CredentialFieldProps {
  label: string;
  hint?: string | null | undefined;
  error: string | undefined;
  value: string;
  onChange: (value: string) => void;
  pattern: string;
}

export function CredentialField({ hint, pattern, ...rest }: CredentialFieldProps) {
  const list = useId();
  const credentials = useQuery(credentialsQuery);
  const names = (credentials.data ?? []).map(({ name }) => name).filter((name) => matchesGlob(pattern, name));
  return (
    <>
      <TextField
        {...rest}
        list={list}
        hint={hint ?? (names.length > 0 ? `A credential; ${names.length} fit ${pattern}.` : `A credential. None fits ${pattern} yet.`)}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
