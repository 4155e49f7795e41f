/** Received mail, and files that are downloaded, over HTTP: a part of the composition root. */
import { createLinkTo } from './http/download-link.ts'
import { createInboundFiles } from './http/inbound-files.ts'
import type { Route } from './http/route.ts'
import { downloadRoutes } from './http/routes/downloads.ts'
import { emailAttachmentOpener, emailAttachmentRoutes } from './http/routes/email-attachments.ts'
import { inboundRoutes } from './http/routes/inbound.ts'
import { inboundFileRoutes } from './http/routes/inbound-files.ts'
import { receivingRoutes } from './http/routes/receiving.ts'
import type { Parts } from './parts.ts'

/** To stand before the routes of sent emails. @param baseUrl to be called once the door is open */
export function fileRoutes({ config, clock, store, plans, secrets }: Parts, baseUrl: () => string): Route[] {
  const { horizonOf } = plans
  const linkTo = createLinkTo({ secrets, clock, baseUrl })
  const files = createInboundFiles({ store, horizonOf, mailHost: config.mailHost })
  const open = {
    'email-attachment': emailAttachmentOpener({ horizonOf, store }),
    'inbound-attachment': files.open,
    'inbound-message': files.open,
  }
  return [
    ...receivingRoutes({ horizonOf, store, linkTo }),
    ...inboundRoutes({ horizonOf, store, linkTo }),
    ...inboundFileRoutes({ horizonOf, store, files }),
    ...emailAttachmentRoutes({ horizonOf, store, linkTo }),
    ...downloadRoutes({ secrets, clock, open }),
  ]
}
