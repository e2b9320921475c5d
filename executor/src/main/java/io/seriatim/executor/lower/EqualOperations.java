package io.seriatim.executor.lower;

import io.seriatim.executor.ir.Access;
import io.seriatim.executor.ir.ValueNumbering;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The operations of a block that are equal but for the names of their variables, such as those of the layers of a
 * network: what follows from the types and elements of the inputs of one follows for the others.
 */
final class EqualOperations {
    /** Operations with longer lists as attributes, such as the elements of a constant, are not compared. */
    private static final int LONGEST_LIST = 64;

    private EqualOperations() {
    }

    /** An operation with numbers in place of names. */
    private record Form(String type, List<Attribute.Named> attributes, Map<String, List<Integer>> inputs,
            Map<String, List<Integer>> outputs) {
        static Form of(OpDesc op) {
            Map<String, Integer> numbers = new HashMap<>();
            numbers.put(GradientRule.EMPTY, -1);
            return new Form(op.type(), op.attributes(), numbered(op.inputs(), numbers),
                    numbered(op.outputs(), numbers));
        }

        private static Map<String, List<Integer>> numbered(Map<String, List<String>> slots,
                Map<String, Integer> numbers) {
            Map<String, List<Integer>> numbered = LinkedHashMap.newLinkedHashMap(slots.size());
            slots.forEach((slot, names) -> {
                List<Integer> all = new ArrayList<>(names.size());
                for (String name : names) {
                    Integer next = numbers.size();
                    Integer known = numbers.putIfAbsent(name, next);
                    all.add(known == null ? next : known);
                }
                numbered.put(slot, all);
            });
            return numbered;
        }
    }

    /**
     * Returns the index of the first equal operation by the index of each operation. Operations that run blocks, and
     * those that change variables in place, read other variables than they name: they are equal only to themselves.
     */
    static int[] of(ValueNumbering accesses) {
        List<Access> all = accesses.operations();
        int[] first = new int[all.isEmpty() ? 0 : all.getLast().index() + 1];
        Map<Form, Integer> known = new HashMap<>();
        for (Access access : all) {
            int index = access.index();
            Integer equal = hasNamedVariables(access) && hasShortAttributes(access.op())
                    ? known.putIfAbsent(Form.of(access.op()), index)
                    : null;
            first[index] = equal == null ? index : equal;
        }
        return first;
    }

    private static boolean hasNamedVariables(Access access) {
        return !access.runsBlocks() && access.schema() != null
                && access.schema().changedInPlace(access.op()).isEmpty();
    }

    private static boolean hasShortAttributes(OpDesc op) {
        for (Attribute.Named each : op.attributes()) {
            int length = switch (each.value()) {
                case Attribute.Ints(List<Integer> list) -> list.size();
                case Attribute.Int64s(List<Long> list) -> list.size();
                case Attribute.Reals(List<Float> list) -> list.size();
                case Attribute.Float64s(List<Double> list) -> list.size();
                case Attribute.Bools(List<Boolean> list) -> list.size();
                case Attribute.Scalars(List<Attribute.ScalarNumber> list) -> list.size();
                case Attribute.Texts(List<String> list) -> list.size();
                default -> 1;
            };
            if (length > LONGEST_LIST) {
                return false;
            }
        }
        return true;
    }
}
