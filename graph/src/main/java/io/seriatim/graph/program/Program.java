package io.seriatim.graph.program;

import io.seriatim.graph.util.Utf8;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Blocks of operations: what a network computes, as data. Not for several threads at once while it is changed. */
public final class Program {
    /** The version of Paddle whose programs these are: major · 10⁶ + minor · 10³ + patch. */
    public static final long VERSION = 2_006_002;

    private final List<Block> blocks = new ArrayList<>();
    private @Nullable Long version = VERSION;
    private @Nullable Map<String, Integer> opVersions = OpVersions.OF_VERSION;
    private @Nullable OriginalMessage original;
    private SymbolicDims symbolicDims = SymbolicDims.NONE;
    private List<String> expressedTraining = List.of();
    private long randomSeed;
    private int gradientCalls;
    private long modifications;

    /** A program of one block without operations. */
    public Program() {
        addBlock(Block.NONE, null);
    }

    private Program(boolean withoutBlock) {
        assert withoutBlock;
    }

    /**
     * A program without any block, to be filled from a file.
     *
     * @param version
     *            Paddle's version, or null if the file does not say
     * @param opVersions
     *            the version of each operation type, or null if the file does not say
     * @return the program
     */
    public static Program empty(@Nullable Long version, @Nullable Map<String, Integer> opVersions) {
        Program program = new Program(true);
        program.version = version;
        program.opVersions = opVersions == null ? null : Collections.unmodifiableMap(new LinkedHashMap<>(opVersions));
        return program;
    }

    /**
     * Adds a block.
     *
     * @param parent
     *            the number of its parent, or {@link Block#NONE}
     * @param forward
     *            the number of the block whose gradient it is, or null
     * @return the block
     */
    public Block addBlock(int parent, @Nullable Integer forward) {
        Block block = new Block(this, blocks.size(), parent, forward);
        modified();
        blocks.add(block);
        return block;
    }

    /**
     * Takes the last blocks away, which no operation of the others may name.
     *
     * @param count
     *            how many blocks stay, at least 1
     * @return this
     */
    public Program keepBlocks(int count) {
        if (count < 1 || count > blocks.size()) {
            throw new IllegalArgumentException(
                    "A program of " + blocks.size() + " blocks keeps 1 to all of them, but not " + count);
        }
        modified();
        blocks.subList(count, blocks.size()).clear();
        return this;
    }

    /**
     * The blocks.
     *
     * @return by number
     */
    public List<Block> blocks() {
        return Collections.unmodifiableList(blocks);
    }

    /**
     * A block.
     *
     * @param index
     *            its number
     * @return the block
     */
    public Block block(int index) {
        if (index < 0 || index >= blocks.size()) {
            throw new IllegalArgumentException("There is no block " + index + "; the program has " + blocks.size());
        }
        return blocks.get(index);
    }

    /**
     * The first block.
     *
     * @return block 0
     */
    public Block global() {
        return block(0);
    }

    /**
     * Paddle's version.
     *
     * @return null if the file does not say
     */
    public @Nullable Long version() {
        return version;
    }

    /**
     * The version of each operation type.
     *
     * @return in the file's order; null if the file does not say
     */
    public @Nullable Map<String, Integer> opVersions() {
        return opVersions;
    }

    /**
     * The parts of its message in the file other than blocks.
     *
     * @return null if it has no more, or if it was not read from a file
     */
    public @Nullable OriginalMessage original() {
        return original;
    }

    /**
     * Sets what a file has besides blocks.
     *
     * @param message
     *            the rest of the message in the file, or null for nothing
     * @return this
     */
    public Program original(@Nullable OriginalMessage message) {
        modified();
        original = message;
        return this;
    }

    /**
     * The names of unknown dimensions of feeds; those of one name have one size in a run.
     *
     * @return {@link SymbolicDims#NONE} if the file gives none
     */
    public SymbolicDims symbolicDims() {
        return symbolicDims;
    }

    /**
     * Sets the names of unknown dimensions of feeds.
     *
     * @param dims
     *            the names
     * @return this
     */
    public Program symbolicDims(SymbolicDims dims) {
        modified();
        symbolicDims = dims;
        return this;
    }

    /**
     * The operators of a file that were in training mode and that several operations express here, such as a batch
     * normalisation with the statistics of the batch. {@link TrainingMode} counts them.
     *
     * @return a type for each operator; not part of files
     */
    public List<String> expressedTraining() {
        return expressedTraining;
    }

    /**
     * Sets the operators of a file that were in training mode and that several operations express here.
     *
     * @param types
     *            a type for each operator
     * @return this
     */
    public Program expressedTraining(List<String> types) {
        modified();
        expressedTraining = List.copyOf(types);
        return this;
    }

    /**
     * The seed of operations that have none of their own.
     *
     * @return 0 if it was never set; not part of files
     */
    public long randomSeed() {
        return randomSeed;
    }

    /**
     * Sets the seed of operations that have none of their own.
     *
     * @param seed
     *            any number
     * @return this
     */
    public Program randomSeed(long seed) {
        modified();
        randomSeed = seed;
        return this;
    }

    /**
     * How often the program was changed: its blocks, their variables and operations, or its seed. A caller that keeps
     * something made from a program compares the number to learn whether that is still up to date, instead of comparing
     * the program.
     *
     * @return a number that grows with every change of this object; a copy counts on its own
     */
    public long modifications() {
        return modifications;
    }

    /**
     * Every method that changes the program or one of its blocks calls this first, so that no change goes uncounted if
     * it fails halfway.
     */
    void modified() {
        modifications++;
    }

    /**
     * How many times gradients were added, this time included. Later gradients choose names that earlier ones do not
     * have.
     *
     * @return 1 at the first call
     */
    public int nextGradientCall() {
        modified();
        return ++gradientCalls;
    }

    /**
     * The parameters: the trained variables of the first block.
     *
     * @return in the order in which they were declared
     */
    public List<VarDesc> parameters() {
        return global().vars().stream().filter(VarDesc::isTrained).toList();
    }

    /**
     * The variables that outlive a run, apart from feed, fetch, readers and raw ones: what parameter files hold.
     *
     * @return in the order of their names
     */
    public List<VarDesc> persistables() {
        return blocks.stream().flatMap(block -> block.vars().stream()).filter(VarDesc::isPersistable)
                .filter(desc -> desc.type().tensorType() != null)
                .sorted(Comparator.comparing(VarDesc::name, Utf8.ORDER))
                .toList();
    }

    /**
     * A copy that can be changed on its own.
     *
     * @return the copy
     */
    public Program copy() {
        Program copy = empty(version, opVersions).original(original);
        copy.symbolicDims = symbolicDims;
        copy.expressedTraining = expressedTraining;
        copy.randomSeed = randomSeed;
        copy.gradientCalls = gradientCalls;
        for (Block block : blocks) {
            Block to = copy.addBlock(block.parent(), block.forwardAsWritten()).original(block.original());
            block.vars().forEach(to::put);
            to.setOps(block.ops());
        }
        return copy;
    }

    /**
     * A copy whose variables have other names. A variable whose new name is already that of another one keeps its own.
     *
     * @param names
     *            the new names by the present ones
     * @return the copy
     */
    public Program renamed(Map<String, String> names) {
        Map<String, String> free = new HashMap<>(names);
        free.values().removeIf(name -> blocks.stream().anyMatch(block -> block.var(name) != null));
        UnaryOperator<String> rename = name -> free.getOrDefault(name, name);
        Program copy = copy();
        for (Block block : copy.blocks) {
            List<VarDesc> vars = List.copyOf(block.vars());
            vars.stream().filter(desc -> free.containsKey(desc.name())).forEach(desc -> {
                block.remove(desc.name());
                block.put(desc.named(rename.apply(desc.name())));
            });
            block.setOps(block.ops().stream().map(op -> withNames(op.renamed(rename, rename), rename)).toList());
        }
        return copy;
    }

    /** Operations that run blocks name variables of their block in attributes. */
    private static OpDesc withNames(OpDesc op, UnaryOperator<String> rename) {
        OpDesc renamed = op;
        for (Attribute.Named each : op.runsBlocks() ? op.attributes() : List.<Attribute.Named>of()) {
            if (each.value() instanceof Attribute.Texts(List<String> texts)) {
                renamed = renamed.with(each.name(), texts.stream().map(rename).toArray(String[]::new));
            } else if (each.value() instanceof Attribute.Text(String text)) {
                renamed = renamed.with(each.name(), rename.apply(text));
            }
        }
        return renamed;
    }

    /**
     * A copy for evaluation: without backward and optimizer, and with every operation in its form for inference. The
     * variables that only those operations had are left out.
     *
     * @return the copy
     */
    public Program copyForTest() {
        return Prune.forTest(this);
    }

    /**
     * A copy that holds only what some variables need. Variables are in the order of their names, and blocks that are
     * still run are numbered anew.
     *
     * @param feeds
     *            variables whose first values are given. Operations that overwrite them stay if they are needed, unless
     *            they need variables that are not given: then the given value takes the place of their result
     * @param targets
     *            variables that are wanted
     * @return the copy
     * @throws IllegalArgumentException
     *             if a target is not there or nothing produces it
     */
    public Program prune(List<String> feeds, List<String> targets) {
        Program pruned = new TargetPruning(this, feeds).prune(targets);
        return pruned.symbolicDims(symbolicDims.within(pruned)).expressedTraining(expressedTraining);
    }

    /**
     * As text for readers.
     *
     * @return a line for each variable and operation; attributes that every operation has are left out where they have
     * their usual value
     */
    @Override
    public String toString() {
        return ProgramText.of(this);
    }

    /**
     * As Graphviz: boxes for operations, ovals for variables, parameters filled.
     *
     * @return text that {@code dot} draws
     */
    public String toDot() {
        return ProgramDot.of(this);
    }

    /**
     * As a picture: operations in layers, forward blue, backward orange, optimizer green, unknown ones red.
     *
     * @return an SVG that a browser shows
     */
    public String toSvg() {
        return ProgramSvg.of(this);
    }
}
