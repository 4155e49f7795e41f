/** Reads the mail that a server has delivered to Maildir folders. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

export interface Maildirs {
  /** Messages of a mailbox, oldest first, as stored, with CRLF. */
  mail(mailbox: string): Buffer[]
  /** The first message of the mailbox that contains the text. */
  received(mailbox: string, text: string): Promise<Buffer>
}

/** @param folder has a Maildir for each mailbox, once mail has come for it */
export function openMaildirs(folder: string): Maildirs {
  const mail = (mailbox: string) =>
    filesOf(join(folder, mailbox, 'new')).map(file =>
      Buffer.from(readFileSync(file, 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1'),
    )
  return {
    mail,
    received: (mailbox, text) => until(() => mail(mailbox).find(message => message.includes(text))),
  }
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map(name => join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
