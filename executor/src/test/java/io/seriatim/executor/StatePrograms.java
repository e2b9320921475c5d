package io.seriatim.executor;

import static io.seriatim.tensor.DType.BOOL;
import static io.seriatim.tensor.DType.FLOAT32;
import static io.seriatim.tensor.DType.INT32;
import static io.seriatim.tensor.DType.INT64;

import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Random programs that overwrite variables: feeds, temporaries, persistable variables of which some share memory or are
 * fed, and lists, in branches, loops and recurrences within each other, at random places. There is a startup program
 * and two main programs, which run alternately. An operation reads only variables that an earlier one has certainly
 * written; a branch or loop is not certain to write any.
 */
final class StatePrograms {
    private static final int DEEPEST = 3;
    private static final int STEPS = 3;
    private static final String RATE = "rate";
    private static final String LIST = "list";
    private static final String COUNT = "count";
    /** A variable that gets its first value in a main program, if at all. */
    private static final String LATE = "late";
    private static final List<String> FED = List.of("x0", "x1", "x2");
    private static final List<String> TEMPORARIES = List.of("t0", "t1", "t2", "t3", "t4");
    private static final List<String> PARAMETERS = List.of("p0", "p1", "p2", "p3");

    private final Random random;
    private final String[] places;
    final Program startup = new Program();
    final List<Program> mains = new ArrayList<>();
    private final Map<Program, List<String>> fetches = new HashMap<>();
    /** The persistable variables that are fed. */
    private final Map<Program, List<String>> fedToo = new HashMap<>();
    private int names;

    /**
     * Generates programs.
     *
     * @param places
     *            the places to which operations are distributed; an empty name stands for the executor's
     */
    StatePrograms(long seed, String... places) {
        this.random = new Random(seed);
        this.places = places.clone();
        declare(startup);
        PARAMETERS.forEach(name -> add(startup.global(), fill(3, random.nextInt(5) - 2).out("Out", name)));
        for (String name : List.of("m", "v")) {
            add(startup.global(), fill(3, 0).out("Out", name));
        }
        for (String name : List.of("b1", "b2", RATE)) {
            add(startup.global(), fill(1, 0.5f).out("Out", name));
        }
        add(startup.global(), OpDesc.of("fill_constant").out("Out", COUNT).attr("shape", new long[]{1}).attr("dtype", 3)
                .attr("value", 0f));
        if (random.nextInt(3) > 0) {
            String[] shared = PARAMETERS.subList(0, 2 + random.nextInt(3)).toArray(String[]::new);
            startup.global().put(VarDesc.of("flat", VarType.dense(FLOAT32, 3L * shared.length)).persistent());
            add(startup.global(), OpDesc.of("coalesce_tensor").in("Input", shared).out("Output", shared)
                    .out("FusedOutput", "flat").attr("copy_data", true).attr("use_align", false).attr("dtype", 5));
        }
        for (int i = 0; i < 2; i++) {
            Program main = new Program();
            declare(main);
            mains.add(main);
            List<String> more = new ArrayList<>(List.of("p0", "p1", "p3", LATE));
            Collections.shuffle(more, random);
            fedToo.put(main, more.subList(0, Math.max(0, random.nextInt(4) - 1)));
            Set<String> known = new LinkedHashSet<>(FED);
            known.addAll(PARAMETERS);
            known.addAll(Objects.requireNonNull(fedToo.get(main)));
            new Writer(main, main.global(), known, 0).write(4 + random.nextInt(9));
            fetches.put(main, fetched(known));
        }
    }

    private List<String> fetched(Set<String> known) {
        List<String> all = new ArrayList<>(known.stream().filter(name -> !name.equals(LIST)).toList());
        all.add(COUNT);
        Collections.shuffle(all, random);
        return all.subList(0, Math.min(all.size(), 2 + random.nextInt(5)));
    }

    private static void declare(Program program) {
        Block global = program.global();
        Stream.concat(FED.stream(), TEMPORARIES.stream())
                .forEach(name -> global.put(VarDesc.of(name, VarType.dense(FLOAT32, 3))));
        Stream.concat(PARAMETERS.stream(), Stream.of("m", "v", LATE))
                .forEach(name -> global.put(VarDesc.of(name, VarType.dense(FLOAT32, 3)).persistent()));
        Stream.of("b1", "b2", RATE)
                .forEach(name -> global.put(VarDesc.of(name, VarType.dense(FLOAT32, 1)).persistent()));
        global.put(VarDesc.of(COUNT, VarType.dense(INT64, 1)).persistent());
        for (int depth = 0; depth < DEEPEST; depth++) {
            global.put(VarDesc.of("s" + depth, VarType.dense(FLOAT32, 2, 3)));
        }
        global.put(VarDesc.of("c", VarType.dense(BOOL, 1))).put(VarDesc.of("n", VarType.dense(INT64, 1)))
                .put(VarDesc.of("i", VarType.dense(INT64, 1))).put(VarDesc.of("which", VarType.dense(INT32, 1)))
                .put(VarDesc.of("shape", VarType.dense(INT32, 1)))
                .put(VarDesc.of(LIST, new VarType.TensorArray(VarType.TensorType.of(FLOAT32, 3), 0)));
    }

    private static OpDesc.Builder fill(long size, float value) {
        return OpDesc.of("fill_constant").attr("shape", new long[]{size}).attr("dtype", 5).attr("value", value);
    }

    private void add(Block block, OpDesc.Builder op) {
        String place = places[random.nextInt(places.length)];
        block.add((place.isEmpty() ? op : op.attr("op_device", place)).build());
    }

    /** The feeds of a run. */
    Map<String, Tensor> fed(int run) {
        Random values = new Random(run);
        Map<String, Tensor> fed = new HashMap<>();
        for (String name : FED) {
            fed.put(name, Bits.normal(values.nextLong(), 3));
        }
        for (String name : Objects.requireNonNull(fedToo.get(main(run)))) {
            fed.put(name, Bits.normal(values.nextLong(), 3));
        }
        for (int depth = 0; depth < DEEPEST; depth++) {
            fed.put("s" + depth, Bits.normal(values.nextLong(), 2, 3));
        }
        fed.put("c", Tensor.of(BOOL, new long[]{run % 2 == 0 ? 0 : 1}, 1));
        fed.put("n", Bits.longs(values.nextInt(STEPS)));
        fed.put("i", Bits.longs(values.nextInt(STEPS + 1)));
        fed.put("which", Tensor.of(INT32, new long[]{values.nextInt(2)}, 1));
        fed.put("shape", Tensor.of(INT32, new long[]{3}, 1));
        return fed;
    }

    Program main(int run) {
        return mains.get(run % 2);
    }

    List<String> fetches(Program main) {
        return Objects.requireNonNull(fetches.get(main));
    }

    @Override
    public String toString() {
        return startup + "\n" + mains + "\nfed, too: " + mains.stream().map(fedToo::get).toList();
    }

    /** Writes the operations of a block. */
    private final class Writer {
        private final Program program;
        private final Block block;
        /** The variables of three elements, and the list, that certainly have a value. */
        private final Set<String> known;
        private final int depth;
        /** The variables of enclosing blocks that this block reads and writes. */
        private final Set<String> read = new TreeSet<>();
        private final Set<String> written = new TreeSet<>();

        Writer(Program program, Block block, Set<String> known, int depth) {
            this.program = program;
            this.block = block;
            this.known = known;
            this.depth = depth;
        }

        void write(int count) {
            for (int i = 0; i < count; i++) {
                next();
            }
        }

        private String local(VarType type) {
            String name = "local" + names++;
            block.put(VarDesc.of(name, type));
            return name;
        }

        private String one(VarType type, OpDesc.Builder op, String slot) {
            String name = local(type);
            append(op.out(slot, name));
            return name;
        }

        private void append(OpDesc.Builder op) {
            add(block, op);
            OpDesc last = block.ops().getLast();
            last.inputNames().stream().filter(name -> block.var(name) == null).forEach(read::add);
            last.outputNames().stream().filter(name -> block.var(name) == null).forEach(written::add);
        }

        private String any() {
            List<String> all = known.stream().filter(name -> !name.equals(LIST)).toList();
            return all.get(random.nextInt(all.size()));
        }

        /** Returns a variable to write: of the global block, or of this one. */
        private String target() {
            return switch (random.nextInt(9)) {
                case 0 -> FED.get(random.nextInt(FED.size()));
                case 1, 2, 3 -> PARAMETERS.get(random.nextInt(PARAMETERS.size()));
                case 4 -> local(VarType.dense(FLOAT32, 3));
                case 5 -> any();
                case 6 -> random.nextInt(4) == 0 ? LATE : any();
                default -> TEMPORARIES.get(random.nextInt(TEMPORARIES.size()));
            };
        }

        private void set(OpDesc.Builder op, String slot) {
            String to = target();
            append(op.out(slot, to));
            known.add(to);
        }

        private void next() {
            String a = any();
            String b = any();
            switch (random.nextInt(depth < DEEPEST ? 26 : 17)) {
                case 0, 1 -> set(OpDesc.of("scale").in("X", a).attr("scale", 0.5f).attr("bias", 0.25f), "Out");
                case 2, 3 -> set(OpDesc.of("elementwise_add").in("X", a).in("Y", b).attr("axis", -1), "Out");
                case 4 -> set(OpDesc.of("tanh").in("X", a), "Out");
                case 5 -> set(OpDesc.of("assign").in("X", a), "Out");
                case 6 -> set(OpDesc.of("elementwise_max").in("X", a).in("Y", b).attr("axis", -1), "Out");
                case 7 -> append(OpDesc.of("scale").in("X", a).out("Out", a).attr("scale", 0.75f).attr("bias", 1f));
                case 8 -> append(OpDesc.of("increment").in("X", COUNT).out("Out", COUNT).attr("step", 1f));
                case 9 -> update(a);
                case 10 -> adam(a);
                case 11 -> chosen(a, b);
                case 12 -> append(OpDesc.of("reshape2").in("X", a).in("Shape", "shape").out("Out", a));
                case 13 -> select(a);
                case 14, 15 -> list(a);
                case 16 -> set(fill(3, random.nextInt(3)), "Out");
                case 17, 18, 19, 20 -> branch(a);
                case 21, 22, 23 -> loop();
                case 24 -> feedLoop();
                default -> recurrence(a, b);
            }
        }

        private void update(String gradient) {
            String parameter = PARAMETERS.get(random.nextInt(PARAMETERS.size()));
            append(OpDesc.of("sgd").in("Param", parameter).in("Grad", gradient).in("LearningRate", RATE)
                    .out("ParamOut", parameter));
        }

        private void adam(String gradient) {
            String parameter = PARAMETERS.get(random.nextInt(2));
            append(OpDesc.of("adam").in("Param", parameter).in("Grad", gradient).in("LearningRate", RATE)
                    .in("Moment1", "m").in("Moment2", "v").in("Beta1Pow", "b1").in("Beta2Pow", "b2")
                    .out("ParamOut", parameter).out("Moment1Out", "m").out("Moment2Out", "v").out("Beta1PowOut", "b1")
                    .out("Beta2PowOut", "b2").attr("epsilon", 0.125f));
        }

        /** Adds the sum of some elements, whose number only the run knows. */
        private void chosen(String a, String b) {
            String mask = one(VarType.dense(BOOL, 3), OpDesc.of("greater_than").in("X", a).in("Y", b), "Out");
            String some = one(VarType.dense(FLOAT32, -1), OpDesc.of("masked_select").in("X", a).in("Mask", mask), "Y");
            String sum = one(VarType.dense(FLOAT32, 1), OpDesc.of("reduce_sum").in("X", some)
                    .attr("dim", new int[]{0}).attr("keep_dim", true).attr("reduce_all", true), "Out");
            set(OpDesc.of("elementwise_add").in("X", b).in("Y", sum).attr("axis", -1), "Out");
        }

        /** Writes one of two variables. */
        private void select(String a) {
            List<String> both = new ArrayList<>(TEMPORARIES);
            Collections.shuffle(both, random);
            append(OpDesc.of("select_output").in("X", a).in("Mask", "which").out("Out", both.get(0), both.get(1)));
        }

        private void list(String a) {
            if (!known.contains(LIST) || random.nextBoolean()) {
                int index = known.contains(LIST) ? random.nextInt(2) : 0;
                append(OpDesc.of("write_to_array").in("X", a).in("I", number(index)).out("Out", LIST));
                known.add(LIST);
            } else {
                set(OpDesc.of("read_from_array").in("X", LIST).in("I", number(0)), "Out");
                append(OpDesc.of("lod_array_length").in("X", LIST).out("Out", COUNT));
            }
        }

        private String number(int value) {
            return one(VarType.dense(INT64, 1), OpDesc.of("fill_constant").attr("shape", new long[]{1})
                    .attr("dtype", 3).attr("value", (float) value), "Out");
        }

        private Writer inner() {
            return new Writer(program, program.addBlock(block.index(), null), new LinkedHashSet<>(known), depth + 1);
        }

        /** Appends an operation that runs a block. */
        private void run(Writer inner, String reads, String writes, String scopes, OpDesc.Builder op) {
            String kept = local(new VarType.Other(VarType.STEP_SCOPES));
            append(op.in(reads, inner.read).out(writes, inner.written).out(scopes, kept)
                    .attr("sub_block", new Attribute.BlockRef(inner.block.index())));
        }

        private String condition(String a) {
            return switch (random.nextInt(3)) {
                case 0 -> "c";
                case 1 -> one(VarType.dense(BOOL, 1), OpDesc.of("less_than").in("X", COUNT).in("Y", number(3)), "Out");
                default -> {
                    String sum = one(VarType.dense(FLOAT32, 1), OpDesc.of("reduce_sum").in("X", a)
                            .attr("dim", new int[]{0}).attr("keep_dim", true).attr("reduce_all", true), "Out");
                    String zero = one(VarType.dense(FLOAT32, 1), fill(1, 0), "Out");
                    yield one(VarType.dense(BOOL, 1), OpDesc.of("greater_than").in("X", sum).in("Y", zero), "Out");
                }
            };
        }

        private void branch(String a) {
            Writer inner = inner();
            inner.write(1 + random.nextInt(3));
            run(inner, "Input", "Out", "Scope",
                    OpDesc.of("conditional_block").in("Cond", condition(a)).attr("is_scalar_condition", true));
        }

        private void loop() {
            loop(number(0), "n");
        }

        /** A loop whose variable is fed; a later one with this variable has no steps. */
        private void feedLoop() {
            loop("i", number(STEPS));
        }

        private void loop(String index, String bound) {
            String more = one(VarType.dense(BOOL, 1), OpDesc.of("less_than").in("X", index).in("Y", bound), "Out");
            Writer inner = inner();
            inner.write(1 + random.nextInt(3));
            inner.append(OpDesc.of("increment").in("X", index).out("Out", index).attr("step", 1f));
            inner.append(OpDesc.of("less_than").in("X", index).in("Y", bound).out("Out", more));
            run(inner, "X", "Out", "StepScopes",
                    OpDesc.of("while").in("Condition", more).attr("is_test", true));
        }

        /** Adds up the rows of a sequence; the block may overwrite variables of the enclosing blocks. */
        private void recurrence(String start, String parameter) {
            String sequence = "s" + depth;
            String outputs = local(VarType.dense(FLOAT32, 2, 3));
            Writer inner = inner();
            String before = inner.local(VarType.dense(FLOAT32, 3));
            String after = inner.local(VarType.dense(FLOAT32, 3));
            inner.append(
                    OpDesc.of("elementwise_add").in("X", sequence).in("Y", before).out("Out", after).attr("axis", -1));
            inner.append(OpDesc.of("elementwise_max").in("X", after).in("Y", parameter).out("Out", outputs)
                    .attr("axis", -1));
            inner.write(random.nextInt(3));
            inner.written.remove(outputs);
            inner.written.remove(sequence);
            inner.read.remove(sequence);
            String kept = local(new VarType.Other(VarType.STEP_SCOPES));
            append(OpDesc.of("recurrent").in("inputs", sequence).in("initial_states", start)
                    .in("parameters", inner.read)
                    .out("outputs", outputs).out("step_scopes", kept)
                    .attr("sub_block", new Attribute.BlockRef(inner.block.index())).attr("has_states", true)
                    .attr("ex_states", new String[]{before}).attr("states", new String[]{after})
                    .attr("is_train", false));
            inner.written.stream().filter(name -> block.var(name) == null).forEach(written::add);
            set(OpDesc.of("reduce_sum").in("X", outputs).attr("dim", new int[]{0}).attr("keep_dim", false)
                    .attr("reduce_all", false), "Out");
        }
    }
}
