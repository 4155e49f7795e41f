/** Lists the settings that exist once per name, such as those of a plan. `schema.ts` has all others. */
import { flag, limit } from './setting.ts'
import { smartHost, smartHostDomains } from './smart-host.ts'

/** Settings that exist once per name that the operator chooses, such as `regions.<name>.feedback`. */
export const families = {
  regions: {
    feedback: flag(false, 'Whether delivery and bounce events are recorded for domains of the region.'),
  },
  plans: {
    retentionDays: limit(90, 'Retention of emails of accounts on the plan; `none` keeps them forever.', {
      min: 1,
      unit: 'days',
    }),
    daily: limit(null, 'Quota of recipients per UTC day.', { shown: 'none' }),
    monthly: limit(null, 'Quota of recipients per UTC month.', { shown: 'none' }),
  },
  providers: {
    connections: limit(
      null,
      'Maximum number of concurrent SMTP sessions to the mailbox provider, such as `google`.',
      {
        min: 1,
        shown: 'by a table',
      },
    ),
    messagesPerConnection: limit(null, 'Maximum number of messages per SMTP session to the provider.', {
      min: 1,
      shown: 'by a table',
    }),
    messagesPerSecond: limit(null, 'Maximum rate of delivery attempts to the provider.', {
      min: 1,
      shown: 'any number',
    }),
  },
  smartHosts: {
    url: smartHost(
      'Smart host for the domains instead of `delivery.smart_host`. Empty: their mail goes to their MX hosts.',
    ),
    domains: smartHostDomains('Recipient domains; `*.example.com` stands for all subdomains.'),
  },
}

export const FAMILY_NAME = /^[a-z0-9][a-z0-9-]*$/
