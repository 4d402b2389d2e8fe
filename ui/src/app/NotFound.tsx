/** For addresses that lead nowhere. */
import { Link } from "react-router";
import { EmptyState } from "@/components/EmptyState";
import { Page } from "@/components/Page";

export function NotFound() {
  return (
    <Page title="Nothing here">
      <EmptyState title="This address leads nowhere">
        <p>
          It may have been mistyped. The <Link to="/">home page</Link> shows what there is.
        </p>
      </EmptyState>
    </Page>
  );
}
