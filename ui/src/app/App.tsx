/** Everything that surrounds the pages. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createBrowserRouter } from "react-router";
import { RouterProvider } from "react-router/dom";
import { asApiError } from "@/api/error";
import { ToastProvider } from "@/components/Toast";
import { Broken } from "./Broken";
import { NotFound } from "./NotFound";
import { PAGES } from "./pages";
import { Shell } from "./Shell";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      refetchOnWindowFocus: true,
      // A refusal stays one; only what may pass is tried again.
      retry: (failures, error) => failures < 2 && asApiError(error).isRetryable,
      retryDelay: (failures) => Math.min(4_000, 500 * 2 ** failures),
    },
  },
});

const router = createBrowserRouter([
  {
    element: <Shell />,
    errorElement: <Broken />,
    children: [
      ...PAGES.map(({ path, load }) => ({
        path,
        errorElement: <Broken />,
        lazy: async () => ({ Component: (await load()).default }),
      })),
      { path: "*", element: <NotFound /> },
    ],
  },
]);

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  );
}
