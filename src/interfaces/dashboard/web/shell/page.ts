/** What every page is given. */
export interface PageProps {
  /** Of the address, by the names that its route gives them. */
  params: Record<string, string | undefined>
}
