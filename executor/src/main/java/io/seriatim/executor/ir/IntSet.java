package io.seriatim.executor.ir;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A set of numbers in the order in which they were added. Mostly there are few, for which a linear search is faster
 * than boxed numbers in a hash table.
 */
final class IntSet {
    private static final int FEW = 16;

    private int[] numbers = new int[4];
    private int size;
    /** Null while there are few numbers. */
    private @Nullable Set<Integer> many;

    /** Adds a number; returns whether it is new. */
    boolean add(int number) {
        if (contains(number)) {
            return false;
        }
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * size);
        }
        numbers[size++] = number;
        Set<Integer> all = many;
        if (all != null) {
            all.add(number);
        } else if (size > FEW) {
            many = all();
        }
        return true;
    }

    private Set<Integer> all() {
        Set<Integer> all = HashSet.newHashSet(2 * size);
        for (int i = 0; i < size; i++) {
            all.add(numbers[i]);
        }
        return all;
    }

    void addAll(int[] others) {
        for (int number : others) {
            add(number);
        }
    }

    boolean contains(int number) {
        if (many != null) {
            return many.contains(number);
        }
        for (int i = 0; i < size; i++) {
            if (numbers[i] == number) {
                return true;
            }
        }
        return false;
    }

    /** Returns those of some numbers that are not in the set, in order. */
    int[] missing(int[] others) {
        int[] missing = new int[others.length];
        int count = 0;
        for (int number : others) {
            if (!contains(number)) {
                missing[count++] = number;
            }
        }
        return count == others.length ? others : Arrays.copyOf(missing, count);
    }

    int[] toArray() {
        return Arrays.copyOf(numbers, size);
    }
}
