/** A service with data to back up, and the command line on its data folder. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type CommandLineOptions, mailhornCommand } from './command-line.ts'
import { type Program, printedApiKey, startProgram } from './process.ts'
import type { TestContext } from './suite.ts'

export const PASSPHRASE = 'correct horse battery staple'
/** Size of an attachment that is stored as a file. */
export const LARGE_BYTES = 100_000

export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-backup-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A service that runs, what sends to it, and the command line on its data folder. */
export async function startScene(t: TestContext, more: Record<string, string> = {}) {
  const parent = folder(t)
  const dataDir = join(parent, 'data')
  const settings = { RATE_LIMIT_REQUESTS_PER_SECOND: '0', DELIVERY_THREADS: '1', ...more }
  const program = await t.using(startProgram({ dataDir, settings }))
  const token = printedApiKey(program)
  return {
    ...{ parent, dataDir, program, token, backups: join(parent, 'backups') },
    ...commandsFor(dataDir),
    /** Sends an email with a large attachment, which is stored as a file, and a small one. */
    send: (attachment = randomBytes(LARGE_BYTES)) => sendEmail(program, token, attachment),
  }
}

export type BackupScene = Awaited<ReturnType<typeof startScene>>

export async function sendEmail(
  program: Program,
  token: string,
  attachment: Buffer,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await program.call('POST', '/emails', {
    token,
    body: {
      from: 'ann@here.example',
      to: 'delivered@simulator.test',
      subject: 'A backup',
      text: 'hello',
      ...more,
      attachments: [
        { filename: 'large.bin', content: attachment.toString('base64') },
        { filename: 'small.txt', content: Buffer.from('small').toString('base64') },
      ],
    },
  })
  assert.is(status, 200, JSON.stringify(body))
  return body.id as string
}

export function commandsFor(dataDir: string) {
  const type = (args: readonly string[], more: Partial<CommandLineOptions> = {}) =>
    mailhornCommand(args, { dataDir, ...more })
  return {
    type,
    /** Runs a command with --json that must succeed. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look into outputs of every shape
    async done(args: readonly string[], more: Partial<CommandLineOptions> = {}): Promise<any> {
      const { code, out, err } = await type([...args, '--json'], more)
      assert.is(code, 0, `${args.join(' ')}: ${err}${out}`)
      return JSON.parse(out)
    },
  }
}
