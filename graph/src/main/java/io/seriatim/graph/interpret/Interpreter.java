package io.seriatim.graph.interpret;

import io.seriatim.graph.format.Definition;
import io.seriatim.graph.lod.LodProgram;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.parallel.Communicator;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.FeedCheck;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs programs operation by operation on the calling thread, each kernel made when it is met. It is the reference for
 * every other way to run a program: simple and slow. Used by one thread at a time.
 */
public final class Interpreter {
    private final OpRunner runner;
    private final Environment root = new Environment(null);
    private @Nullable PaddleRandom paddleRandom;
    private AllowedFiles files = AllowedFiles.NONE;
    private @Nullable Communicator communicator;
    private long runs;

    private Interpreter(OpRunner runner) {
        this.runner = runner;
    }

    /**
     * Creates an interpreter with some kernels.
     *
     * @param kernels
     *            for instance {@link Kernels#system}
     * @return an interpreter without variables
     */
    public static Interpreter of(Kernels kernels) {
        return new Interpreter(new OpRunner(kernels));
    }

    /**
     * Creates an interpreter with kernels that are shared.
     *
     * @param kernels
     *            made once each
     * @return an interpreter without variables
     */
    public static Interpreter of(PreparedKernels kernels) {
        return new Interpreter(new OpRunner(kernels));
    }

    /**
     * Draws random numbers as Paddle does on a processor: with a seed the same to the bit.
     *
     * @param seed
     *            of the operations that have none of their own
     * @return this
     */
    public Interpreter paddleRandom(long seed) {
        return paddleRandom(PaddleRandom.ofProcess(seed));
    }

    /**
     * Draws random numbers from a generator of Paddle's, which may be shared with others.
     *
     * @param generator
     *            for operations that have no seed of their own
     * @return this
     */
    public Interpreter paddleRandom(PaddleRandom generator) {
        paddleRandom = generator;
        return this;
    }

    /**
     * Lets programs read and write files.
     *
     * @param value
     *            which; none unless set
     * @return this
     */
    public Interpreter files(AllowedFiles value) {
        files = value;
        return this;
    }

    /**
     * Sets the ranks among which operations of programs communicate. Without one, programs with such operations are
     * refused.
     *
     * @param value
     *            all ranks run the same programs in the same order
     * @return this
     */
    public Interpreter communicator(@Nullable Communicator value) {
        communicator = value;
        return this;
    }

    /**
     * The ranks among which operations of programs communicate.
     *
     * @return null if there are none
     */
    public @Nullable Communicator communicator() {
        return communicator;
    }

    /**
     * Sets a variable that outlives runs.
     *
     * @param name
     *            its name
     * @param tensor
     *            its value, of the host
     * @return this
     * @throws IllegalStateException
     *             if it is closed
     */
    public Interpreter set(String name, Tensor tensor) {
        Objects.requireNonNull(tensor, () -> "The value of variable '" + name + "'");
        requireOpen("The value of variable '" + name + "'", tensor);
        root.set(name, tensor);
        return this;
    }

    /**
     * Sets the learning rates of a step, where the network's optimizers have schedules. Without, those of step 0 stay.
     *
     * @param network
     *            whose startup program has been run
     * @param step
     *            from 0
     * @return this
     */
    public Interpreter rates(Definition network, long step) {
        if (step < 0) {
            throw new IllegalArgumentException("Steps are counted from 0, but this is step " + step);
        }
        network.schedules().forEach((name, schedule) -> {
            VarType.TensorType type = network.main().global().get(name).tensor();
            set(name, Tensor.of(type.dtype(), new double[]{schedule.rate(step)}, type.shape()));
        });
        return this;
    }

    /**
     * A variable that outlives runs.
     *
     * @param name
     *            its name
     * @return its value
     * @throws IllegalArgumentException
     *             if there is none
     */
    public Tensor get(String name) {
        return root.tensor(name);
    }

    /**
     * The variables that outlive runs.
     *
     * @return their names, sorted
     */
    public List<String> names() {
        return root.names();
    }

    /**
     * Runs a program once.
     *
     * @param program
     *            what is run
     * @param feeds
     *            values of the program's variables, by name: row-major tensors of the host, with their
     *            {@linkplain Tensor#lod offsets}; what the program does not read is ignored
     * @param fetches
     *            variables that are wanted
     * @return their values, in order, with their offsets; one that holds some rows comes as the whole tensor
     * @throws FilesNotAllowedException
     *             if the program reads or writes files that are not allowed; then nothing of it has run
     * @throws IllegalArgumentException
     *             if a variable is missing or does not fit; the message names the operation
     * @throws IllegalStateException
     *             if what is fed is closed; the message names the feed
     */
    public Map<String, Tensor> run(Program program, Map<String, Tensor> feeds, List<String> fetches) {
        Operations.system().requireRunnable(program, communicator == null ? 0 : communicator.size());
        files.check(program);
        program.symbolicDims().check(feeds.keySet(), feeds::get);
        if (feeds.values().stream().allMatch(tensor -> tensor == null || tensor.lod().isEmpty())
                && !LodProgram.reads(program)) {
            return runOnce(program, feeds, fetches);
        }
        LodProgram lods = LodProgram.of(program, feeds.keySet(), fetches);
        Function<String, @Nullable Tensor> given = name -> {
            Tensor fed = feeds.get(name);
            return fed == null && root.here(name) instanceof Tensor there ? there : fed;
        };
        Map<String, Tensor> all = new LinkedHashMap<>(feeds);
        all.putAll(lods.values(given));
        List<String> wanted = new ArrayList<>(fetches);
        wanted.addAll(lods.fetches());
        Map<String, Tensor> fetched = runOnce(lods.program(), all, wanted);
        Map<String, Tensor> results = new LinkedHashMap<>();
        fetches.forEach(name -> results.put(name,
                lods.result(name, Objects.requireNonNull(fetched.get(name)), given, fetched::get)));
        return results;
    }

    private Map<String, Tensor> runOnce(Program program, Map<String, Tensor> feeds, List<String> fetches) {
        Environment local = new Environment(root);
        local.enter(program.global());
        Set<String> written = written(program);
        feeds.forEach((name, tensor) -> checkFed(program, name, tensor));
        // Feeds and fetched values belong to the caller: programs change copies, and copies outlive the run.
        feeds.forEach((name, tensor) -> {
            VarDesc desc = program.global().find(name);
            boolean outlives = desc != null && desc.isPersistable();
            Tensor own = outlives || written.contains(name)
                    ? VariableValues.copy(tensor).withLod(tensor.lod())
                    : tensor;
            if (outlives) {
                // It gets memory of its own, as in PaddlePaddle, also if it has shared that of others.
                root.setHere(name, own);
            } else {
                local.set(name, own);
            }
        });
        local.separate(Aliases.madeAnew(program.global()));
        RunState state = new RunState(program, runner, root, local, feeds, runs++, paddleRandom, files, null,
                communicator, new ControlFacts());
        new BlockRunner(state).run(program.global(), local);
        Map<String, Tensor> fetched = new LinkedHashMap<>();
        for (String name : fetches) {
            Tensor value = local.dense(name);
            fetched.put(name, root.here(name) == value || local.isShared(value) ? VariableValues.copy(value) : value);
        }
        return fetched;
    }

    /**
     * A run whose operations the caller chooses. Executors leave operations that depend on values or run blocks to the
     * interpreter.
     *
     * @param block
     *            whose operations
     * @param feeds
     *            what was fed, by name
     * @param run
     *            the number of the run, which random numbers depend on
     * @param blocks
     *            runs the blocks that operations run
     * @return the block, without variables
     */
    public BlockSession session(Block block, Map<String, Tensor> feeds, long run, BlockExecution blocks) {
        return session(block, feeds, run, blocks, new ControlFacts());
    }

    /**
     * A run as that of {@link #session(Block, Map, long, BlockExecution)}, for a program that runs often.
     *
     * @param block
     *            whose operations
     * @param feeds
     *            what was fed, by name
     * @param run
     *            the number of the run, which random numbers depend on
     * @param blocks
     *            runs the blocks that operations run
     * @param facts
     *            those of other runs of the program, which has not changed since
     * @return the block, without variables
     */
    public BlockSession session(Block block, Map<String, Tensor> feeds, long run, BlockExecution blocks,
            ControlFacts facts) {
        Environment variables = new Environment(null);
        Environment local = new Environment(variables);
        local.enter(block);
        RunState state = new RunState(block.program(), runner, variables, local, feeds, run, paddleRandom, files,
                blocks, communicator, facts);
        return new BlockSession(block, local, new BlockRunner(state));
    }

    private static Set<String> written(Program program) {
        Set<String> names = new HashSet<>();
        program.blocks().forEach(block -> block.ops().forEach(op -> names.addAll(op.outputNames())));
        return names;
    }

    private static void checkFed(Program program, String name, Tensor tensor) {
        Objects.requireNonNull(tensor, () -> "The value that is fed for variable '" + name + "'");
        requireOpen("Feed '" + name + "'", tensor);
        VarDesc desc = program.global().find(name);
        String problem = desc == null ? null : FeedCheck.problem(desc, tensor.spec(), "is");
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
    }

    private static void requireOpen(String which, Tensor tensor) {
        try {
            tensor.buffer().requireOpen();
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    which + ", " + tensor.spec() + ", is a closed tensor: close it after the run. "
                            + e.getMessage(),
                    e);
        }
    }
}
