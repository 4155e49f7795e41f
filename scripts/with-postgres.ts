/**
 * Runs a program with a PostgreSQL of its own to test on, which is gone afterwards; it forgets everything
 * quickly.
 *
 *   node scripts/with-postgres.ts <program> [argument]...
 */
import { spawnSync } from 'node:child_process'
import { startCluster } from '../test/kit/cluster.ts'

const [program, ...args] = process.argv.slice(2)
const cluster = await startCluster({ fsync: false })
const { status } = spawnSync(program!, args, {
  stdio: 'inherit',
  env: { TEST_LIMIT_FACTOR: '2', ...process.env, MAILHORN_TEST_DATABASE_URL: cluster.url('socket') },
})
await cluster.close()
process.exit(status ?? 1)
