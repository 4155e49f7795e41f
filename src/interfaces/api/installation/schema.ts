/** What a client needs to know of the installation to explain it, as the API shows it. */
import * as z from 'zod'

export const installationSchema = z
  .object({
    object: z.literal('installation'),
    version: z.string(),
    base_url: z.string().meta({ description: 'Where clients reach the API.' }),
    mail_host: z.string().meta({ description: 'The provider host, which the records of domains lead to.' }),
    laboratory: z.boolean().meta({
      description:
        'The provider host is no name that the world can look up: mail goes to the simulator alone.',
    }),
    simulator_domain: z.string(),
    api_key_prefix: z.string(),
    regions: z.array(z.object({ name: z.string(), feedback: z.boolean() })),
    plans: z.array(z.string()),
  })
  .meta({ id: 'Installation' })

export type InstallationView = z.output<typeof installationSchema>
