package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.ops.random.PaddleDraws;

/** Distributions of the classes that a sampled loss compares with the right ones. */
sealed interface ClassSampler {
    /** A class. */
    long sample(PaddleDraws draws);

    /** How probable a class is, in single precision as in Paddle. */
    float probability(long of);

    /**
     * All classes alike.
     *
     * @param classes
     *            how many there are
     */
    record Uniform(int classes) implements ClassSampler {
        @Override
        public long sample(PaddleDraws draws) {
            return draws.below(classes);
        }

        @Override
        public float probability(long of) {
            return (float) (1.0 / classes);
        }
    }

    /**
     * Small numbers more often, as ids by falling frequency need it.
     *
     * @param classes
     *            how many there are, 2 or more
     */
    record LogUniform(int classes) implements ClassSampler {
        private float range() {
            return (float) Math.log(classes);
        }

        @Override
        public long sample(PaddleDraws draws) {
            return ((long) Math.exp(draws.unitDouble() * range()) - 1) % (classes - 1);
        }

        @Override
        public float probability(long of) {
            return (float) (Math.log((of + 2.0) / (of + 1.0)) / range());
        }
    }

    /**
     * By given probabilities, with Walker's aliases (1977): a class is kept with its own probability, and otherwise
     * replaced by its alias.
     *
     * @param probabilities
     *            of the classes
     * @param aliases
     *            for each class, another
     * @param kept
     *            for each class, how probably it is kept
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Custom(double[] probabilities, int[] aliases, double[] kept) implements ClassSampler {
        @Override
        public long sample(PaddleDraws draws) {
            int drawn = (int) draws.below(aliases.length);
            return draws.unitDouble() > kept[drawn] ? aliases[drawn] : drawn;
        }

        @Override
        public float probability(long of) {
            return (float) probabilities[(int) of];
        }
    }
}
