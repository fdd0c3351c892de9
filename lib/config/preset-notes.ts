/** What `--preset tutorial` does otherwise than the tutorial's own program, one line each; docs/tutorial.md explains them. */
export const TUTORIAL_NOTES: readonly string[] = [
  'KL: k3 for each token against the reference model; the program subtracts two means, whose gradient ignores the reference',
  'mask: only sampled tokens are trained on, the end of a turn among them; the program trains on the prompt, and finds padding by token id',
  'sampling: with the weights that are trained; the program samples from the frozen base model',
  'step: one update for all groups of a step; the program updates after each trajectory',
  'groups whose rewards are all equal leave the update; in the program they are pushed down by its KL term',
  'verdicts: unittest loader, pytest, check and asserts, and no test run is a failure; the program runs the file and looks at its exit code',
  'turns without a call are answered by a line that names the forms; the program samples a second assistant turn',
  'observations are cut by tokens, with a mark; the program cuts at 200 to 500 characters, without one',
  'no tools: the last code block of the reply is graded, as in every mode; the program tests the whole reply',
  'submissions: any number in training and evaluation as in the program, so pass rates carry the label "with test feedback"',
];

/** The lines that a run with this preset prints first. */
export function presetNotes(preset: string | undefined): readonly string[] {
  if (preset === 'demo') {
    return [
      '--preset demo: a model of 0.7 million parameters learns when to search (docs/demo.md); --model and --tasks train yours',
    ];
  }
  if (preset !== 'tutorial') return [];
  return [
    '--preset tutorial: what differs from the tutorial’s program (docs/tutorial.md says why)',
    ...TUTORIAL_NOTES.map((note) => `  ${note}`),
  ];
}
