/** The dashboard, built where it is not yet, or has changed since. */
import { execFileSync } from 'node:child_process'

const root = new URL('../..', import.meta.url).pathname

/** Folder of the built dashboard. */
export const DASHBOARD_FOLDER = `${root}dist/dashboard`

export function buildDashboard(): void {
  execFileSync(process.execPath, ['scripts/build-dashboard.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
