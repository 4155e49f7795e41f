/** Reloads the page when the dashboard has been built again. Only development builds have this script. */

const INTERVAL_MS = 1_000
/** The page names the built files, whose names contain a hash of their content. */
let shown: string | undefined

setInterval(async () => {
  if (document.hidden) return
  // the service is being restarted
  const page = await fetch(location.pathname).catch(() => undefined)
  if (!page?.ok) return
  const current = await page.text()
  if (shown !== undefined && current !== shown) location.reload()
  shown = current
}, INTERVAL_MS)
