/** A search whose text stays in the address. It follows when one pauses. */
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { useAddress } from "@/lib/address";
import styles from "./SearchField.module.css";

const PAUSE = 200;

export function SearchField({ label, name = "search" }: { label: string; name?: string }) {
  const [parameters, change] = useAddress();
  const current = parameters.get(name) ?? "";
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  useEffect(() => {
    if (text.trim() === current) return;
    const timer = setTimeout(() => change({ [name]: text.trim() }, { replace: true }), PAUSE);
    return () => clearTimeout(timer);
    // Only what is typed matters; the address follows it.
  }, [text]);
  return (
    <label className={styles.search}>
      <Search size={14} aria-hidden />
      <span className="visually-hidden">{label}</span>
      <input type="search" placeholder={label} value={text} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
