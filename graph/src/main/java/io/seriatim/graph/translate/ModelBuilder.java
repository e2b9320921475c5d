package io.seriatim.graph.translate;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.format.InferenceModels.InferenceModel;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.SymbolicDims;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Builds the program of a model that another system wrote. Values have the names that they have in the file. Constants
 * and parameters are added to the program when an operation reads them; those that only determine attributes are not
 * part of it.
 */
public final class ModelBuilder {
    private static final String RESULT = "~";

    private final Program program = new Program();
    private final Constants constants = new Constants();
    private final LinkedHashMap<String, Tensor> parameters = new LinkedHashMap<>();
    private final Set<String> names = new HashSet<>();
    /** The last number of the names that begin alike, so that each new one is found at once. */
    private final Map<String, Integer> numbers = new HashMap<>();
    /** The names of results until the program ends. */
    private final Set<String> results = new HashSet<>();
    private final LinkedHashMap<String, String> wishes = new LinkedHashMap<>();
    private final List<String> feeds = new ArrayList<>();
    private final List<String> expressedTraining = new ArrayList<>();
    private boolean forInference;
    /** In the order of their first use. */
    private final LinkedHashSet<String> used = new LinkedHashSet<>();
    /** The operations that make the constants of {@link Literals}; they come first in the program. */
    private final List<OpDesc> literals = new ArrayList<>();
    private final BlockBuilder main = new BlockBuilder(this, program.global(), null);

    /** Creates a builder of an empty program. */
    public ModelBuilder() {
        // The fields are set where they are declared.
    }

    /**
     * The block that is run.
     *
     * @return always the same
     */
    public BlockBuilder main() {
        return main;
    }

    /**
     * The program so far.
     *
     * @return the program that grows
     */
    public Program program() {
        return program;
    }

    /**
     * An input of the model, whose values are checked against this declaration ({@code need_check_feed}).
     *
     * @param name
     *            its name in the file
     * @param dtype
     *            the type of its elements
     * @param dims
     *            its dimensions, −1 where unknown
     * @return the variable
     * @throws IllegalArgumentException
     *             if the name is taken
     */
    public Ref feed(String name, DType dtype, long... dims) {
        take(name);
        feeds.add(name);
        ArgType type = ArgType.dense(dtype, dims);
        program.global().put(new VarDesc(name, type.varType(), null, true, null, true));
        return new Ref(name, type);
    }

    /** Makes translators express operators in their form for inference, also those that are in training mode. */
    public void forInference() {
        forInference = true;
    }

    /**
     * Returns whether operators in training mode are to be expressed in their form for inference.
     *
     * @return false unless {@link #forInference} was called
     */
    public boolean isForInference() {
        return forInference;
    }

    /**
     * Records that an operator in training mode was expressed by several operations.
     *
     * @param operator
     *            its type in the file
     */
    public void expressedTraining(String operator) {
        expressedTraining.add(operator);
    }

    /**
     * Names the dimensions of inputs; those of one name have one size in a run.
     *
     * @param names
     *            by input, a name for each axis, empty where the dimension has none
     */
    public void symbolicDims(Map<String, List<String>> names) {
        program.symbolicDims(new SymbolicDims(names));
    }

    /**
     * A value that is part of the model and that training changes, if its type is floating.
     *
     * @param name
     *            its name in the file
     * @param value
     *            a row-major tensor of the host
     * @return the variable, which is added to the program when an operation reads it
     * @throws IllegalArgumentException
     *             if the name is taken
     */
    public Ref parameter(String name, Tensor value) {
        take(name);
        return constants.add(name, value, value.dtype().isFloating());
    }

    /**
     * Records that callers may feed a parameter, in place of the value of the file.
     *
     * @param name
     *            the name of a parameter
     */
    public void feedable(String name) {
        constants.feedable(name);
    }

    /**
     * A value that is part of the model and that training does not change.
     *
     * @param hint
     *            the wish for its name
     * @param value
     *            a row-major tensor of the host
     * @return the variable, which is added to the program when an operation reads it
     */
    public Ref constant(String hint, Tensor value) {
        return constants.add(fresh(hint), value, false);
    }

    /**
     * The value of a constant, or of a parameter that callers do not feed.
     *
     * @param ref
     *            any variable
     * @return null if it is known only when the program runs
     */
    public @Nullable Tensor value(Ref ref) {
        return constants.isFeedable(ref.name()) ? null : constants.find(ref.name());
    }

    /**
     * A name that no variable has.
     *
     * @param hint
     *            the wish
     * @return the wish, with a number if it is taken
     */
    public String fresh(String hint) {
        String name = hint.isEmpty() ? "value" : hint;
        while (!names.add(name)) {
            name = hint + "~" + numbers.merge(hint, 1, Integer::sum);
        }
        return name;
    }

    private void take(String name) {
        if (!names.add(name)) {
            throw new IllegalArgumentException("Two values have the name '" + name + "'; names are unique");
        }
    }

    /**
     * Wishes a name for the result of an operation. It gets the name when the program ends, unless another has it.
     *
     * @param ref
     *            a result of an operation; anything else keeps its name
     * @param name
     *            the file's name of it
     */
    public void name(Ref ref, String name) {
        if (isResult(ref) && !name.isEmpty()) {
            wishes.putIfAbsent(ref.name(), name);
        }
    }

    /** A variable that the program writes in each run, of constants too. */
    private Ref copied(Ref ref) {
        Ref result = main.declare(ref.type());
        main.op("assign").in("X", ref).to("Out", result).append();
        return result;
    }

    private boolean isResult(Ref ref) {
        return results.contains(ref.name()) && constants.find(ref.name()) == null;
    }

    Constants constants() {
        return constants;
    }

    /** Adds a constant to the program if it is one and is not there yet. */
    void use(String name) {
        Tensor value = constants.find(name);
        if (value == null || used.contains(name)) {
            return;
        }
        used.add(name);
        if (!constants.isFeedable(name) && Literals.isLiteral(value, constants.isTrained(name))) {
            literal(name, value);
        } else {
            parameters.put(name, value);
            boolean trained = constants.isTrained(name);
            program.global().put(new VarDesc(name, VarType.dense(value.dtype(), value.shape().dims()), true, false,
                    trained, !trained));
        }
    }

    /**
     * Ends the program.
     *
     * @param outputs
     *            what the model computes, by the file's names, in order
     * @return the model, which belongs to the caller
     */
    public InferenceModel build(Map<String, Ref> outputs) {
        Map<String, String> renamed = new LinkedHashMap<>();
        outputs.forEach((name, ref) -> {
            boolean own = ref.name().equals(name);
            Ref result = own || (isResult(ref) && !renamed.containsKey(ref.name())) ? ref : copied(ref);
            use(result.name());
            if (!own) {
                names.add(name);
                renamed.put(result.name(), name);
            }
        });
        wishes.forEach((result, name) -> {
            if (!renamed.containsKey(result) && names.add(name)) {
                renamed.put(result, name);
            }
        });
        scales();
        List<OpDesc> ops = new ArrayList<>(literals);
        ops.addAll(program.global().ops());
        program.global().setOps(ops);
        Renaming.apply(program, renamed);
        program.expressedTraining(expressedTraining);
        return new InferenceModel(program, feeds, List.copyOf(outputs.keySet()), parameters);
    }

    /** Makes literals of parameters that decide about sizes only. */
    private void scales() {
        Set<String> candidates = new LinkedHashSet<>();
        parameters.forEach((name, value) -> {
            if (!constants.isFeedable(name) && Literals.isScales(value)) {
                candidates.add(name);
            }
        });
        Set<String> decisive = new HashSet<>();
        for (Block block : program.blocks()) {
            for (OpDesc op : block.ops()) {
                Operation schema = Operations.system().find(op.type());
                op.inputs().forEach((slot, names) -> {
                    boolean decides = schema != null && schema.values().contains(slot);
                    if (decides) {
                        decisive.addAll(names);
                    } else {
                        names.forEach(candidates::remove);
                    }
                });
            }
        }
        candidates.retainAll(decisive);
        for (String name : candidates) {
            literal(name, Objects.requireNonNull(parameters.remove(name)));
        }
    }

    private void literal(String name, Tensor value) {
        literals.add(Appender.complete(Literals.operation(name, value), Roles.FORWARD));
        program.global().put(VarDesc.of(name, VarType.dense(value.dtype(), value.shape().dims())).stopping(true));
    }

    /** A name for a result, until the program ends. */
    String result() {
        String name = fresh(RESULT);
        results.add(name);
        return name;
    }

    /** Creates a block below another. */
    Block block(Block parent) {
        return program.addBlock(parent.index(), null);
    }

    /**
     * How far a program is built, so that operations which turn out to be wrong can be taken back.
     *
     * @param block
     *            the block to which operations are appended next; others change only below it
     */
    record Mark(Block block, int ops, int vars, int blocks, int used, int parameters, int literals, int wishes) {
    }

    Mark mark(Block block) {
        return new Mark(block, block.ops().size(), block.vars().size(), program.blocks().size(), used.size(),
                parameters.size(), literals.size(), wishes.size());
    }

    void takeBack(Mark mark) {
        program.keepBlocks(mark.blocks);
        Block block = mark.block;
        block.setOps(block.ops().subList(0, mark.ops));
        block.vars().stream().skip(mark.vars).map(VarDesc::name).toList().forEach(block::remove);
        while (used.size() > mark.used) {
            program.global().remove(used.removeLast());
        }
        while (parameters.size() > mark.parameters) {
            parameters.pollLastEntry();
        }
        while (wishes.size() > mark.wishes) {
            wishes.pollLastEntry();
        }
        literals.subList(mark.literals, literals.size()).clear();
    }

    /** Frees the parameters, if the model could not be built: nobody else has them. */
    public void discard() {
        parameters.values().forEach(Tensor::close);
        parameters.clear();
    }
}
