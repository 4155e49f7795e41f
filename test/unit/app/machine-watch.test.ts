import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { machineChecks } from '../../../src/app/machine-watch.ts'
import { loadConfig } from '../../../src/config/config.ts'
import type { Outbound } from '../../../src/protocols/http-client/outbound.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('app/machine-watch')
const root = fileURLToPath(new URL('../../..', import.meta.url))
const UNUSED = {} as Outbound

for (const [what, env, watched] of [
  ['by default', {}, ['disk-space 1', 'disk-sync 10', 'clock 360']],
  [
    'with a certificate of its own',
    { MAILHORN_ACME_ENABLED: 'true', MAILHORN_ACME_TERMS_AGREED: 'true' },
    ['disk-space 1', 'disk-sync 10', 'certificate-expiry 60', 'clock 360'],
  ],
  [
    'with backups on a schedule',
    { MAILHORN_BACKUP_FOLDER: '/var/backups/mailhorn' },
    ['disk-space 1', 'disk-sync 10', 'backup 1', 'clock 360'],
  ],
  ['without a clock to compare with', { MAILHORN_DOCTOR_CLOCK_URL: '' }, ['disk-space 1', 'disk-sync 10']],
] as const)
  test(`the machine is watched, each at its interval in minutes: ${what}`, async t => {
    const { db } = await t.using(openLocalStore())
    const { config } = loadConfig(root, { MAILHORN_MAIL_HOST: 'mail.here.example', ...env })
    const checks = machineChecks(config, {
      db,
      clock: createManualClock(),
      outbound: UNUSED,
      isBackingUp: () => false,
    })
    assert.equal(
      checks.map(({ alert, everyMs }) => `${alert} ${everyMs / 60_000}`),
      watched,
    )
  })

test.run()
