import * as assert from 'uvu/assert'
import { openCertificates } from '../../../src/app/certificates.ts'
import { ConfigError, loadConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('certificates')

const root = new URL('../../..', import.meta.url).pathname
const fileOf = (name: string) => new URL(`../../kit/certs/${name}`, import.meta.url).pathname

for (const [what, cert, key, says] of [
  ['is not there', '/nonexistent', fileOf('key.pem'), /ENOENT.*\/nonexistent/],
  ['has no certificate', '/etc/hostname', fileOf('key.pem'), /start line/],
] as const)
  test(`certificates: a file that ${what} is reported with its settings`, async () => {
    const { config } = loadConfig(root, {
      MAILHORN_SMTP_TLS_CERT_FILE: cert,
      MAILHORN_SMTP_TLS_KEY_FILE: key,
    })
    const parts = { config, clock: createManualClock(), log: createLog('silent') }
    const opening = openCertificates(parts as unknown as Parameters<typeof openCertificates>[0])
    const error = await opening.then(
      () => undefined,
      (reason: unknown) => reason as Error,
    )
    assert.instance(error, ConfigError)
    assert.match(error!.message, /^smtp\.tls\.cert_file, smtp\.tls\.key_file: cannot be used \(/)
    assert.match(error!.message, says)
  })

test.run()
