/** Shown in place of a page that failed to load or to draw itself. */
import { useRouteError } from "react-router";
import { asApiError } from "@/api/error";
import { Button } from "@/components/Button";
import { ErrorPanel } from "@/components/ErrorPanel";
import { Page } from "@/components/Page";

export function Broken() {
  const error = useRouteError();
  return (
    <Page title="This page broke">
      <ErrorPanel error={asApiError(error)} />
      <div>
        <Button onClick={() => location.reload()}>Load it again</Button>
      </div>
    </Page>
  );
}
