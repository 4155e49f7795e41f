/** Stands in for the thread that reads received mail: whole messages are too much for it. */
import { serveThread } from '../../../../src/lib/serve-thread.ts'
import { encodeInboundContent } from '../../../../src/pipeline/inbound/stored-content.ts'
import { readHeadOnly } from '../../../../src/protocols/mime/read/read-mail.ts'

serveThread({
  async read({ fault }: { fault: string | null }) {
    if (fault === null) await new Promise(() => {})
    const { html, text, headers, ...rest } = readHeadOnly(Buffer.from('Subject: by its head\r\n\r\n'), fault!)
    return { ...rest, content: encodeInboundContent({ html, text, headers }) }
  },
})
