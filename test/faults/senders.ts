/** Clients that send as fast as they are answered, and remember what they were told. */

/** One email somebody wants sent, however often it takes to be told that it was taken. */
export interface Wanted {
  number: number
  recipient: string
  /** From a 200; null when no answer came. */
  id: string | null
}

export interface SendersOptions {
  apiKey: string
  clientCount: number
  from: string
  /** The address of the recipient of email `number`. */
  recipientOf(number: number): string
}

export interface Senders {
  /** Everything that was tried to send so far. */
  readonly wanted: readonly Wanted[]
  /** Sends new emails from all clients, each until it gets no answer. Resolves when none gets any. */
  sendUntilCut(baseUrl: string): Promise<void>
  /** Sends again, with their idempotency keys, those that got no answer. @throws when one is not taken */
  repeatUnanswered(baseUrl: string): Promise<void>
}

export function createSenders({ apiKey, clientCount, from, recipientOf }: SendersOptions): Senders {
  const wanted: Wanted[] = []

  /** False when no answer came. */
  const send = async (baseUrl: string, email: Wanted): Promise<boolean> => {
    try {
      const response = await fetch(`${baseUrl}/emails`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': `email-${email.number}`,
        },
        body: JSON.stringify({ from, to: email.recipient, subject: `Email ${email.number}`, text: 'hello' }),
      })
      const body = (await response.json()) as { id?: string }
      if (response.status !== 200) return false
      email.id = body.id!
      return true
    } catch {
      return false // the connection was cut or refused, which is what these clients are for
    }
  }

  const client = async (baseUrl: string) => {
    let answered = true
    while (answered) {
      const number = wanted.length
      const email: Wanted = { number, recipient: recipientOf(number), id: null }
      wanted.push(email)
      answered = await send(baseUrl, email)
    }
  }

  return {
    wanted,
    async sendUntilCut(baseUrl) {
      await Promise.all(Array.from({ length: clientCount }, () => client(baseUrl)))
    },
    async repeatUnanswered(baseUrl) {
      for (const email of wanted)
        if (email.id === null && !(await send(baseUrl, email)))
          throw new Error(`email ${email.number} is not taken on repetition`)
    },
  }
}
