package io.seriatim.executor;

import io.seriatim.graph.Attribute;
import io.seriatim.graph.Program;
import io.seriatim.tensor.Tensor;
import java.lang.foreign.ValueLayout;

/** The keys of random numbers: an operation's seed, or the program's with the operation's place and the run's number, as the interpreter makes them. */
final class RandomKeys {
    private RandomKeys() {
    }

    static void write(Tensor key, Program program, Accesses.Access access, long run) {
        boolean ignored = access.op().attribute("fix_seed") instanceof Attribute.Bool(boolean fixed) && !fixed;
        long seed = !ignored && access.op().attribute("seed") instanceof Attribute.Int(int value) ? value : 0;
        long place = access.index();
        long first = seed != 0 ? seed : program.randomSeed() + 0x9E3779B97F4A7C15L * (1 + place);
        // One: the first draw of this operation in this run.
        long second = seed != 0 ? 0 : run + (1L << 40);
        key.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, key.offset(), first);
        key.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, key.offset() + Long.BYTES, second);
    }
}
