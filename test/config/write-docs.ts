import { writeFileSync } from 'node:fs';
import { configurationPage } from '../../lib/config/docs-page.js';

writeFileSync(new URL('../../docs/configuration.md', import.meta.url), configurationPage());
