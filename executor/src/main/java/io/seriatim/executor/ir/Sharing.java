package io.seriatim.executor.ir;

import io.seriatim.device.Buffer;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The variables outside of a run that share memory when it begins. The dependencies of a plan depend on it, so a plan
 * is compiled for one sharing. Variables in the same buffer without common bytes do not share memory.
 *
 * @param groups
 *            the groups of variables, in the order of their first values
 */
public record Sharing(List<Group> groups) {
    public static final Sharing NONE = new Sharing(List.of());

    /**
     * Variables with overlapping memory.
     *
     * @param members
     *            the variables; the first is at the start of the group's memory
     * @param spec
     *            the type and size of the group's memory
     */
    public record Group(List<Member> members, TensorSpec spec) {
    }

    /**
     * A variable in a group.
     *
     * @param value
     *            its first value in the block
     * @param name
     *            its name
     * @param from
     *            its offset in the group's memory, in bytes
     * @param spec
     *            its type and shape
     */
    public record Member(int value, String name, long from, TensorSpec spec) {
    }

    /** A variable and its tensor. */
    private record Found(int value, String name, Tensor tensor) {
        long end() {
            return tensor.offset() + tensor.spec().bytes();
        }
    }

    /**
     * Returns the sharing between the outer variables that a block names. With {@code alone}, it also contains
     * variables that share memory only with variables that the block does not name.
     */
    public static Sharing of(ValueNumbering accesses, Bindings around, boolean alone) {
        if (!around.sharesMemory()) {
            return NONE;
        }
        IdentityHashMap<Buffer, List<Found>> byBuffer = new IdentityHashMap<>();
        List<List<Found>> all = new ArrayList<>();
        for (int value : accesses.known()) {
            String name = accesses.values().get(value).name();
            if (around.find(name) instanceof Tensor tensor && tensor.spec().isRowMajor()) {
                byBuffer.computeIfAbsent(tensor.buffer(), _ -> {
                    List<Found> list = new ArrayList<>(2);
                    all.add(list);
                    return list;
                }).add(new Found(value, name, tensor));
            }
        }
        List<Group> groups = new ArrayList<>();
        for (List<Found> list : all) {
            if ((list.size() > 1 || alone) && around.isShared(list.getFirst().tensor)) {
                group(list, alone, groups);
            }
        }
        return groups.isEmpty() ? NONE : new Sharing(groups);
    }

    private static void group(List<Found> list, boolean alone, List<Group> groups) {
        list.sort(Comparator.comparingLong((Found found) -> found.tensor.offset()).thenComparingInt(Found::value));
        int from = 0;
        while (from < list.size()) {
            long end = list.get(from).end();
            int to = from + 1;
            while (to < list.size() && list.get(to).tensor.offset() < end) {
                end = Math.max(end, list.get(to).end());
                to++;
            }
            if (to - from > 1 || alone) {
                groups.add(group(list.subList(from, to), end));
            }
            from = to;
        }
    }

    private static Group group(List<Found> members, long end) {
        long start = members.getFirst().tensor.offset();
        DType dtype = members.getFirst().tensor.dtype();
        boolean isOne = (end - start) % dtype.bytes() == 0
                && members.stream().allMatch(each -> each.tensor.dtype() == dtype);
        TensorSpec spec = isOne
                ? TensorSpec.of(dtype, (end - start) / dtype.bytes())
                : TensorSpec.of(DType.UINT8, end - start);
        return new Group(members.stream()
                .map(each -> new Member(each.value, each.name, each.tensor.offset() - start, each.tensor.spec()))
                .toList(), spec);
    }

    /** Returns the memory of a group in the current run. */
    public static Tensor memory(Group group, Bindings around) {
        Member first = group.members.getFirst();
        @Nullable
        Object there = around.find(first.name);
        if (!(there instanceof Tensor tensor)) {
            throw new IllegalStateException(
                    "Variable '" + first.name + "' must keep the memory that it shares with others during a run, "
                            + "but has no value: do not change the scope while a plan runs");
        }
        return new Tensor(tensor.buffer(), tensor.offset(), group.spec);
    }
}
