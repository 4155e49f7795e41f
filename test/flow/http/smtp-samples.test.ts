/** Runs the settings that the SMTP page shows, in programs that are installed. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import {
  CERTIFICATE_FILE,
  SMTP_PROGRAMS,
} from '../../../src/interfaces/dashboard/web/labels/smtp-programs.ts'
import { freePort } from '../../kit/free-port.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('SMTP samples against a service with a self-signed certificate')
const MESSAGE = 'From: hello@here.example\nTo: delivered@simulator.test\nSubject: Hello\n\nIt works.\n'
const SEND: Readonly<Record<string, readonly [file: string, program: string, ...args: string[]]>> = {
  nodemailer: ['sample.mjs', process.execPath, 'sample.mjs'],
  python: ['sample.py', 'python3', 'sample.py'],
  msmtp: ['sample.conf', 'msmtp', '-C', 'sample.conf', 'delivered@simulator.test'],
  curl: ['sample.sh', 'bash', 'sample.sh'],
}

for (const [id, [file, program, ...args]] of Object.entries(SEND)) {
  const skip = spawnSync(program, ['--version']).error ? `${program} is not installed` : undefined
  test(
    `${id} sends as it is shown, with the certificate of the page`,
    async t => {
      const { path: folder } = await t.using(tempFolder())
      const [starttls, tls] = [await freePort(), await freePort()]
      const env = {
        MAILHORN_SMTP_SUBMISSION_LISTEN: `127.0.0.1:${starttls}`,
        MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${tls}`,
      }
      const mailhorn = await t.using(startMailhorn({ env }))
      const session = await mailhorn.signIn()
      const { smtp, mail_host: selfSignedName } = (await mailhorn.call('GET', '/installation', { session }))
        .body
      mkdirSync(join(folder, 'node_modules'))
      const nodemailer = fileURLToPath(new URL('../../../node_modules/nodemailer', import.meta.url))
      symlinkSync(nodemailer, join(folder, 'node_modules/nodemailer'))
      assert.not.match(smtp.self_signed_certificate, 'PRIVATE KEY')
      writeFileSync(join(folder, CERTIFICATE_FILE), smtp.self_signed_certificate)
      const [, , textOf] = SMTP_PROGRAMS.find(([one]) => one === id)!
      for (const { port, security } of smtp.ports) {
        const login = { user: 'mailhorn', password: mailhorn.apiKey, from: 'hello@here.example' }
        const shown = textOf({ host: smtp.host, port, security, ...login, selfSignedName })
        writeFileSync(
          join(folder, file),
          shown.replaceAll('person@example.net', 'delivered@simulator.test'),
          {
            mode: 0o600,
          },
        )
        const child = spawn(program, args, { cwd: folder, stdio: 'pipe' })
        child.stdin.on('error', () => {})
        child.stdin.end(MESSAGE)
        const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
        const { body } = await mailhorn.call('GET', '/emails', { session })
        assert.is(body.data[0]?.subject, 'Hello', `${security}: ${output}${errors}`)
      }
      const { body } = await mailhorn.call('GET', '/emails', { session })
      assert.is(body.data.length, smtp.ports.length)
    },
    { skip },
  )
}

test.run()
