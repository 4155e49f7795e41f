/** Settings of the database and of its copies. `schema.ts` has all others. */
import { databaseUrl, optionalUrl } from './checked-settings.ts'
import { flag, integer, optionalText, text, timeOfDay } from './setting.ts'

export const database = {
  url: databaseUrl(
    'sqlite:mailhorn.db',
    'Database: `sqlite:` and a file name in `data_dir`, or `postgres://user:password@host:port/database`.',
  ),
  startNew: flag(
    false,
    'Start with an empty database although the secret key or files of an earlier installation exist. Without it, such a start fails. Set it for one start only.',
  ),
  migrate: flag(
    true,
    'Migrate the database of an older version at the start. With `false`, which `mailhorn serve --no-migrate` sets, such a start fails and names the pending migrations.',
  ),
  snapshots: integer(
    2,
    'Number of [snapshots](upgrade.md#snapshots) that stay. The start of a newer version makes one before it migrates the database; 0 means that it makes none. Not with PostgreSQL.',
    { max: 100 },
  ),
}

export const backup = {
  folder: optionalText(
    'Folder to which the running service makes backups on a schedule, or `s3://bucket/prefix` for an S3-compatible store. A relative path is resolved against the program’s folder, or, if npm installed it, the current one. With PostgreSQL, it needs `pg_dump`.',
  ),
  everyHours: integer(24, 'Time between two scheduled backups, counted from `backup.at`.', {
    min: 1,
    max: 168,
    unit: 'hours',
  }),
  at: timeOfDay(
    '03:00',
    'Time of day (UTC) of scheduled backups. A backup that was missed is made at the next start.',
  ),
  keep: integer(7, 'Number of backups that stay in `backup.folder`; older ones are removed.', {
    min: 1,
    max: 10_000,
  }),
  passphrase: optionalText(
    'Passphrase that encrypts the secret key in backups; at least 12 characters. Scheduled backups, `mailhorn backup --with-secret-key`, `verify` and `restore` use it.',
    { secret: true },
  ),
  s3: {
    endpoint: optionalUrl(
      'URL of the S3-compatible store that backups to `s3://…` are kept in, such as `https://s3.example.com`. The name of the bucket follows in the path. Off: Amazon S3 in the region.',
    ),
    region: text(
      'us-east-1',
      'Region of the store. Stores other than that of Amazon have a name of their own, or take any.',
    ),
    accessKeyId: optionalText('Access key of the store.'),
    secretAccessKey: optionalText('Secret of the access key.', { secret: true }),
  },
}
