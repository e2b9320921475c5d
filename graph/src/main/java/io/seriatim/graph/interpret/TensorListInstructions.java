package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists of tensors, which Paddle calls arrays.
 *
 * <p>
 * The gradient of a list is a list of the elements' gradients. The gradient of writing an element reads the element's
 * gradient and takes it out of the list: the earlier value was overwritten and gets no gradient. The gradient of
 * reading an element adds to the element's gradient in the list, since the element may have been read several times.
 */
final class TensorListInstructions {
    private static final Set<String> ALSO_FOR_LISTS = Set.of("assign", "sum", "fill_any_like");
    private static final int LONGEST = 1 << 24;

    private TensorListInstructions() {
    }

    /** Whether the operands of an operation on tensors are lists. */
    static boolean isFor(OpDesc op, Environment environment) {
        return ALSO_FOR_LISTS.contains(op.type())
                && op.input("X").stream().anyMatch(name -> environment.find(name) instanceof TensorList);
    }

    /** Whether an operation copies what it gives from a list. */
    static boolean givesNew(OpDesc op) {
        return op.type().equals("read_from_array") || op.type().equals("tensor_array_to_tensor");
    }

    static boolean run(OpDesc op, Environment environment) {
        switch (op.type()) {
            case "write_to_array" -> write(op, environment);
            case "array_add", "array_put" -> {
                if (environment.find(op.input("X").getFirst()) != null) {
                    write(op, environment);
                }
            }
            case "array_take", "array_peek" -> {
                Tensor element = element(op, environment);
                if (element != null) {
                    environment.set(op.output("Out").getFirst(), element);
                }
            }
            case "array_new" -> environment.set(op.output("Out").getFirst(), new TensorList());
            case "read_from_array" -> environment.set(op.output("Out").getFirst(), read(op, environment));
            case "lod_tensor_to_array" -> SequenceListInstructions.split(op, environment);
            case "array_to_lod_tensor" -> SequenceListInstructions.join(op, environment);
            case "beam_search_decode" -> BeamInstructions.decode(op, environment);
            case "lod_array_length" ->
                environment.set(op.output("Out").getFirst(), Tensor.of(new long[]{length(op, environment)}, 1));
            case "tensor_array_to_tensor" -> join(op, environment);
            case "tensor_array_to_tensor_grad" -> split(op, environment);
            case "array_join" -> joinGradients(op, environment);
            case "array_insert", "array_erase" -> edit(op, environment);
            case "array_split" -> parts(op, environment);
            case "assign" -> environment.set(op.output("Out").getFirst(), VariableValues.copy(list(op, environment)));
            case "fill_any_like" ->
                environment.set(op.output("Out").getFirst(), VariableValues.zerosLike(list(op, environment)));
            case "sum" -> sum(op, environment);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static TensorList list(OpDesc op, Environment environment) {
        String name = op.input("X").getFirst();
        if (environment.get(name) instanceof TensorList list) {
            return list;
        }
        throw new IllegalArgumentException("Variable '" + name + "' must be a list of tensors (an array)");
    }

    /** As in Paddle, a list that nothing was written to is empty. */
    private static long length(OpDesc op, Environment environment) {
        return environment.find(op.input("X").getFirst()) == null ? 0 : list(op, environment).tensors().size();
    }

    private static int index(OpDesc op, Environment environment) {
        return index(environment.tensor(op.input("I").getFirst()));
    }

    static int index(Tensor index) {
        if (index.shape().size() != 1 || index.dtype().isFloating()) {
            throw new IllegalArgumentException("The index must be one whole number, but is " + index.spec());
        }
        long value = index.getLong(new long[index.shape().rank()]);
        if (value < 0 || value >= LONGEST) {
            throw new IllegalArgumentException("The index must be from 0 to " + (LONGEST - 1) + ", but is " + value);
        }
        return (int) value;
    }

    private static void write(OpDesc op, Environment environment) {
        String name = op.output("Out").getFirst();
        Object found = environment.findOwned(name);
        TensorList list;
        if (found instanceof TensorList there) {
            list = there;
        } else {
            list = new TensorList();
            environment.set(name, list);
        }
        int index = index(op, environment);
        Tensor value = environment.dense(op.input("X").getFirst());
        Tensor before = index < list.tensors().size() ? list.tensors().get(index) : null;
        boolean adds = before != null && switch (op.type()) {
            case "array_add" -> true;
            case "array_put" -> false;
            default -> name.contains("@GRAD");
        };
        if (adds) {
            VariableValues.put(list, index, (Tensor) VariableValues.sum(before, value));
        } else {
            list.putCopy(index, value);
        }
    }

    private static Tensor read(OpDesc op, Environment environment) {
        int index = index(op, environment);
        boolean gradient = !op.input("X_W").isEmpty();
        Object found = environment.findOwned(op.input("X").getFirst());
        List<@Nullable Tensor> tensors = found == null && gradient ? List.of() : list(op, environment).tensors();
        Tensor tensor = index < tensors.size() ? tensors.get(index) : null;
        if (tensor != null) {
            if (gradient) {
                tensors.set(index, null);
            }
            return VariableValues.copy(tensor);
        }
        if (gradient) {
            return (Tensor) VariableValues.zerosLike(environment.tensor(op.input("X_W").getFirst()));
        }
        throw new IllegalArgumentException(
                "List '" + op.input("X").getFirst() + "' has nothing at " + index + "; it has a length of "
                        + tensors.size() + ": write it before it is read");
    }

    /** An element of a list; if there is none, zeros like what was written, or null. */
    private static @Nullable Tensor element(OpDesc op, Environment environment) {
        int index = index(op, environment);
        Object found = environment.findOwned(op.input("X").getFirst());
        List<@Nullable Tensor> tensors = found == null ? List.of() : list(op, environment).tensors();
        Tensor tensor = index < tensors.size() ? tensors.get(index) : null;
        if (tensor == null) {
            List<String> like = op.input("X_W");
            return !like.isEmpty() && environment.find(like.getFirst()) instanceof Tensor written
                    ? (Tensor) VariableValues.zerosLike(written)
                    : null;
        }
        if (op.type().equals("array_take")) {
            tensors.set(index, null);
        }
        return VariableValues.copy(tensor);
    }

    /** The gradient of taking a tensor apart joins the parts; those that have no gradient are zeros. */
    private static void joinGradients(OpDesc op, Environment environment) {
        String name = op.input("Like").getFirst();
        if (!(environment.get(name) instanceof TensorList like)) {
            throw new IllegalArgumentException("Variable '" + name + "' must be a list of tensors (an array)");
        }
        List<@Nullable Tensor> given = environment.find(op.input("X").getFirst()) instanceof TensorList list
                ? list.tensors()
                : List.of();
        List<Tensor> parts = elements(name, like);
        for (int i = 0; i < parts.size(); i++) {
            Tensor part = i < given.size() ? given.get(i) : null;
            parts.set(i, part == null ? (Tensor) VariableValues.zerosLike(parts.get(i)) : part);
        }
        boolean stacks = Instructions.attrs(op).getBool("use_stack");
        int axis = axis(op, parts.getFirst().shape().rank() + (stacks ? 1 : 0));
        environment.set(op.output("Out").getFirst(),
                stacks ? VariableValues.stacked(axis, parts) : VariableValues.concatenated(axis, parts));
    }

    /** A new list with an element more or less. A list of gradients ends with the last element that has one. */
    private static void edit(OpDesc op, Environment environment) {
        boolean ofGradients = Instructions.attrs(op).getBool("of_gradients");
        boolean inserts = op.type().equals("array_insert");
        int index = index(op, environment);
        List<@Nullable Tensor> list = ofGradients && environment.find(op.input("X").getFirst()) == null
                ? List.of()
                : list(op, environment).tensors();
        int last = inserts ? list.size() : list.size() - 1;
        List<@Nullable Tensor> edited = new ArrayList<>(list);
        if (index <= last) {
            if (inserts) {
                List<String> element = op.input("T");
                edited.add(index,
                        element.isEmpty() ? null : VariableValues.copy(environment.dense(element.getFirst())));
            } else {
                edited.remove(index);
            }
        } else if (!ofGradients) {
            throw new IllegalArgumentException("List '" + op.input("X").getFirst() + "' has " + list.size()
                    + " elements, so that the place must be from 0 to " + last + ", but is " + index);
        }
        environment.set(op.output("Out").getFirst(), new TensorList(edited));
    }

    private static void parts(OpDesc op, Environment environment) {
        Tensor whole = environment.dense(op.input("X").getFirst());
        boolean stacks = Instructions.attrs(op).getBool("use_stack");
        int axis = axis(op, whole.shape().rank());
        long size = whole.shape().dim(axis);
        long[] dims = whole.shape().dims();
        long[] kept = IntStream.range(0, dims.length).filter(i -> i != axis).mapToLong(i -> dims[i]).toArray();
        TensorList list = new TensorList();
        long from = 0;
        for (long length : lengths(op, environment, size)) {
            Tensor part = VariableValues.copy(whole.slice(axis, from, from + length));
            list.tensors().add(stacks ? part.reshape(kept) : part);
            from += length;
        }
        environment.set(op.output("Out").getFirst(), list);
    }

    /** The lengths of the parts of an axis: as they are given, or all as the only one that is given, or 1. */
    private static long[] lengths(OpDesc op, Environment environment, long size) {
        Tensor given = op.input("Lengths").isEmpty() ? null : environment.dense(op.input("Lengths").getFirst());
        if (given != null && given.shape().rank() > 0) {
            WorkingMemory.tensors(given.shape().size());
            long[] lengths = given.toLongArray();
            long left = size;
            for (long length : lengths) {
                left = length < 0 || length > left ? -1 : left - length;
            }
            if (left != 0) {
                throw new IllegalArgumentException("An axis of length " + size + " cannot be divided into parts of the "
                        + "lengths " + Numbers.text(lengths));
            }
            return lengths;
        }
        long each = given == null ? 1 : given.toLongArray()[0];
        if (each < 1 || Math.ceilDiv(size, each) > LONGEST) {
            throw new IllegalArgumentException("An axis of length " + size + " is divided into 1 to " + LONGEST
                    + " parts, but the length of each is " + each);
        }
        long[] lengths = new long[WorkingMemory.tensors(Math.ceilDiv(size, each))];
        Arrays.fill(lengths, each);
        if (size % each != 0) {
            lengths[lengths.length - 1] = size % each;
        }
        return lengths;
    }

    private static List<Tensor> elements(OpDesc op, Environment environment) {
        return elements(op.input("X").getFirst(), list(op, environment));
    }

    /**
     * A tensor without elements, if a list to be stacked is empty, as after a loop without steps: the declaration of
     * the list gives the type and shape of its elements, with 0 for lengths that only an element would tell.
     */
    private static @Nullable Tensor emptyStack(OpDesc op, Environment environment) {
        String name = op.input("X").getFirst();
        VarDesc desc = environment.desc(name);
        if (length(op, environment) > 0 || !Instructions.attrs(op).getBool("use_stack") || desc == null
                || !(desc.type() instanceof VarType.TensorArray(VarType.TensorType type, Integer _))) {
            return null;
        }
        long[] element = type.shape();
        int axis = axis(op, element.length + 1);
        long[] dims = new long[element.length + 1];
        for (int i = 0; i < element.length; i++) {
            dims[i < axis ? i : i + 1] = Math.max(0, element[i]);
        }
        return Tensor.allocate(type.dtype(), dims);
    }

    private static List<Tensor> elements(String name, TensorList list) {
        List<Tensor> elements = new ArrayList<>();
        for (Tensor tensor : list.tensors()) {
            if (tensor == null) {
                throw new IllegalArgumentException(
                        "List '" + name + "' has nothing at " + elements.size()
                                + "; write all its elements before they are joined");
            }
            elements.add(tensor);
        }
        if (elements.isEmpty()) {
            throw new IllegalArgumentException(
                    "List '" + name + "' is empty; write to it before it is joined");
        }
        return elements;
    }

    private static int axis(OpDesc op, int rank) {
        int axis = Instructions.attrs(op).getInt("axis");
        if (axis < -rank || axis >= rank) {
            throw new IllegalArgumentException(
                    "The axis must be from " + -rank + " to " + (rank - 1) + ", but is " + axis);
        }
        return axis < 0 ? axis + rank : axis;
    }

    private static void join(OpDesc op, Environment environment) {
        Tensor empty = emptyStack(op, environment);
        if (empty != null) {
            environment.set(op.output("Out").getFirst(), empty);
            if (!op.output("OutIndex").isEmpty()) {
                environment.set(op.output("OutIndex").getFirst(), Tensor.allocate(DType.INT32, 0));
            }
            return;
        }
        List<Tensor> elements = elements(op, environment);
        boolean stacks = Instructions.attrs(op).getBool("use_stack");
        int axis = axis(op, elements.getFirst().shape().rank() + (stacks ? 1 : 0));
        environment.set(op.output("Out").getFirst(),
                stacks ? VariableValues.stacked(axis, elements) : VariableValues.concatenated(axis, elements));
        if (!op.output("OutIndex").isEmpty()) {
            long[] lengths = elements.stream().mapToLong(each -> stacks ? 1 : each.shape().dim(axis)).toArray();
            environment.set(op.output("OutIndex").getFirst(), Tensor.of(DType.INT32, lengths, lengths.length));
        }
    }

    private static void split(OpDesc op, Environment environment) {
        if (emptyStack(op, environment) != null) {
            environment.set(op.output("X@GRAD").getFirst(), new TensorList());
            return;
        }
        List<Tensor> elements = elements(op, environment);
        boolean stacks = Instructions.attrs(op).getBool("use_stack");
        int axis = axis(op, elements.getFirst().shape().rank() + (stacks ? 1 : 0));
        Tensor gradient = environment.tensor(op.input("Out@GRAD").getFirst());
        TensorList parts = new TensorList();
        long from = 0;
        for (Tensor element : elements) {
            long length = stacks ? 1 : element.shape().dim(axis);
            parts.tensors().add(
                    VariableValues.copy(gradient.slice(axis, from, from + length)).reshape(element.shape().dims()));
            from += length;
        }
        environment.set(op.output("X@GRAD").getFirst(), parts);
    }

    private static void sum(OpDesc op, Environment environment) {
        Object sum = null;
        for (String name : op.input("X")) {
            Object value = environment.get(name);
            sum = VariableValues.sum(sum, sum == null ? VariableValues.copy(value) : value);
        }
        environment.set(op.output("Out").getFirst(), Objects.requireNonNull(sum));
    }
}
