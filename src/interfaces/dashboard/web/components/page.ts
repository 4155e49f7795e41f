/** Props of every page. */
export interface PageProps {
  /** Parameters of the path by name. */
  params: Record<string, string | undefined>
}
