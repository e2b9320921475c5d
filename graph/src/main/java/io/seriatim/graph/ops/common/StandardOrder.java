package io.seriatim.graph.ops.common;

/**
 * Indexes ordered by decreasing keys as the algorithms sort, partial_sort and nth_element of the GNU C++ library order
 * them. These algorithms are not stable, but PaddlePaddle uses them, and which of two boxes with equal scores comes
 * first is visible in its results. A key that is not a number counts as the smallest.
 */
public final class StandardOrder {
    /** Ranges up to this length are sorted by insertion. */
    private static final int SHORT = 16;
    private final int[] items;
    private final double[] keys;

    /**
     * Of indexes.
     *
     * @param items
     *            the indexes, which are put in order
     * @param keys
     *            by which index
     */
    public StandardOrder(int[] items, double[] keys) {
        this.items = items;
        this.keys = keys;
    }

    /** The indexes from 0 to a count. */
    public static int[] indexes(int count) {
        int[] indexes = new int[count];
        for (int i = 0; i < count; i++) {
            indexes[i] = i;
        }
        return indexes;
    }

    /** Sorts all. */
    public void sort() {
        int count = items.length;
        if (count > 1) {
            introsort(0, count, 2 * log2(count));
            insertionSort(0, Math.min(count, SHORT));
            for (int i = SHORT; i < count; i++) {
                insert(i);
            }
        }
    }

    /** Puts the first in order; the others follow in some order. */
    public void sortFirst(int count) {
        selectByHeap(0, count, items.length);
        sortHeap(0, count);
    }

    /** Puts in front those that come before the one at a place when all are sorted, in some order. */
    public void select(int place) {
        int first = 0;
        int last = items.length;
        if (place >= last) {
            return;
        }
        for (int depth = 2 * log2(last); last - first > 3; depth--) {
            if (depth == 0) {
                selectByHeap(first, place + 1, last);
                swap(first, place);
                return;
            }
            int cut = partition(first, last);
            if (cut <= place) {
                first = cut;
            } else {
                last = cut;
            }
        }
        insertionSort(first, last);
    }

    private static int log2(int value) {
        return 31 - Integer.numberOfLeadingZeros(value);
    }

    private boolean before(int one, int other) {
        double key = keys[one];
        double than = keys[other];
        return key > than || (Double.isNaN(than) && !Double.isNaN(key));
    }

    private void swap(int one, int other) {
        int item = items[one];
        items[one] = items[other];
        items[other] = item;
    }

    private void introsort(int first, int end, int depth) {
        int last = end;
        int left = depth;
        while (last - first > SHORT) {
            if (left == 0) {
                selectByHeap(first, last, last);
                sortHeap(first, last);
                return;
            }
            left--;
            int cut = partition(first, last);
            introsort(cut, last, left);
            last = cut;
        }
    }

    /** Partitions a range about the median of three of its items, which comes first. */
    private int partition(int first, int last) {
        medianTo(first, first + 1, first + (last - first) / 2, last - 1);
        int pivot = items[first];
        int low = first + 1;
        int high = last;
        while (true) {
            while (before(items[low], pivot)) {
                low++;
            }
            high--;
            while (before(pivot, items[high])) {
                high--;
            }
            if (low >= high) {
                return low;
            }
            swap(low, high);
            low++;
        }
    }

    private void medianTo(int to, int a, int b, int c) {
        boolean sorted = before(items[a], items[b]);
        int low = sorted ? a : b;
        int high = sorted ? b : a;
        if (before(items[high], items[c])) {
            swap(to, high);
        } else {
            swap(to, before(items[low], items[c]) ? c : low);
        }
    }

    private void insertionSort(int first, int last) {
        for (int i = first + 1; i < last; i++) {
            if (before(items[i], items[first])) {
                int item = items[i];
                System.arraycopy(items, first, items, first + 1, i - first);
                items[first] = item;
            } else {
                insert(i);
            }
        }
    }

    /** Inserts an item into the sorted ones in front of it, of which the first does not come after it. */
    private void insert(int place) {
        int item = items[place];
        int at = place;
        for (; before(item, items[at - 1]); at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }

    /** Makes a heap of the first items, whose root is the last of them in order, and exchanges it for better ones. */
    private void selectByHeap(int first, int middle, int last) {
        int length = middle - first;
        for (int parent = (length - 2) / 2; length > 1 && parent >= 0; parent--) {
            sink(first, parent, length, items[first + parent]);
        }
        for (int i = middle; length > 0 && i < last; i++) {
            if (before(items[i], items[first])) {
                pop(first, length, i);
            }
        }
    }

    private void sortHeap(int first, int end) {
        for (int last = end - 1; last > first; last--) {
            pop(first, last - first, last);
        }
    }

    /** Moves the root of a heap to a place behind it, and the item from there into the heap. */
    private void pop(int first, int length, int place) {
        int item = items[place];
        items[place] = items[first];
        sink(first, 0, length, item);
    }

    private void sink(int first, int top, int length, int item) {
        int hole = top;
        int child = top;
        while (child < (length - 1) / 2) {
            child = 2 * (child + 1);
            if (before(items[first + child], items[first + child - 1])) {
                child--;
            }
            items[first + hole] = items[first + child];
            hole = child;
        }
        if (length % 2 == 0 && child == (length - 2) / 2) {
            child = 2 * child + 1;
            items[first + hole] = items[first + child];
            hole = child;
        }
        int parent = (hole - 1) / 2;
        while (hole > top && before(items[first + parent], item)) {
            items[first + hole] = items[first + parent];
            hole = parent;
            parent = (hole - 1) / 2;
        }
        items[first + hole] = item;
    }
}
