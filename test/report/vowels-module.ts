import { vowelsEnvironment } from '../e2e/tiny-model.js';

export default vowelsEnvironment();
