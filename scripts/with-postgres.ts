/**
 * Runs a program with a PostgreSQL of its own to test on, which is gone afterwards; it forgets everything
 * quickly.
 *
 *   node scripts/with-postgres.ts <program> [argument]...
 */
import { spawn } from 'node:child_process'
import { startCluster } from '../test/kit/cluster.ts'

const [program, ...args] = process.argv.slice(2)
const cluster = await startCluster({ fsync: false })
const child = spawn(program!, args, {
  stdio: 'inherit',
  env: { TEST_LIMIT_FACTOR: '2', ...process.env, MAILHORN_TEST_DATABASE_URL: cluster.url('socket') },
})
// The server is a process of its own, which would outlive this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const status = await new Promise<number | null>(resolve => {
  child.on('close', resolve)
  child.on('error', error => {
    console.error(`${program}: ${error.message}`)
    resolve(1)
  })
})
await cluster.close()
process.exit(status ?? 1)
