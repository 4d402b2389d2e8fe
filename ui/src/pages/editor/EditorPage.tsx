/** Writes a document: the text with what the checker says as it is typed, its graph beside it, and what registers and runs it. */
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { entryQuery, versionsQuery } from "@/api/catalog";
import { LinkButton } from "@/components/Button";
import { ErrorPanel } from "@/components/ErrorPanel";
import { Page } from "@/components/Page";
import { Skeleton } from "@/components/Skeleton";
import { Desk } from "./Desk";
import { TEMPLATES } from "./templates";

export default function EditorPage() {
  const [parameters] = useSearchParams();
  const path = parameters.get("path");
  const id = parameters.get("id");
  if (id !== null) return <Registered id={id} />;
  if (path !== null) return <Newest path={path} />;
  return <FromTemplate name={parameters.get("template") ?? "blank"} />;
}

function Newest({ path }: { path: string }) {
  const versions = useQuery(versionsQuery(path));
  const newest = versions.data?.find((version) => !version.archived_at) ?? versions.data?.[0];
  if (versions.error) return <Failed error={versions.error} />;
  return newest ? <Registered id={String(newest.catalog_id)} /> : <Skeleton lines={12} />;
}

function Registered({ id }: { id: string }) {
  const entry = useQuery(entryQuery(id));
  if (entry.error) return <Failed error={entry.error} />;
  if (!entry.data) return <Skeleton lines={12} />;
  const { path, version, content } = entry.data;
  return <Desk key={id} initial={content ?? ""} origin={{ path, version }} />;
}

function FromTemplate({ name }: { name: string }) {
  const template = TEMPLATES.find((template) => template.name === name) ?? TEMPLATES[0];
  const text = useQuery({ queryKey: ["template", template?.name], queryFn: () => template?.load() ?? "", staleTime: Number.POSITIVE_INFINITY });
  if (text.data === undefined) return <Skeleton lines={12} />;
  return <Desk key={template?.name} initial={text.data} template={template?.name ?? "blank"} />;
}

function Failed({ error }: { error: unknown }) {
  return (
    <Page title="Editor">
      <ErrorPanel error={error} actions={<LinkButton to="/catalog">To the catalog</LinkButton>} />
    </Page>
  );
}
