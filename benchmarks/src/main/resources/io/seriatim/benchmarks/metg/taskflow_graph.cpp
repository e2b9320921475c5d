// A Taskflow graph of the steps that repeat, built once and run again and again: a task is connected with those that it
// reads. The first steps and what is left at the end are graphs of their own. Each task has a place for its value.
#include "metg.h"
#include <taskflow/taskflow.hpp>
#include <algorithm>
#include <deque>

static const long GRAPH = 512; // tasks, if the steps that repeat are fewer

struct Node {
    const Task* task;
    long step; // of the next run
    int column;
};

struct Steps {
    tf::Taskflow flow;
    std::deque<Node> nodes;

    // Connects the tasks of the steps from `from` to `to`, which go on `by` steps later in the next run.
    Steps(tf::Executor& executor, Run& run, int64_t* values, long from, long to, long by) {
        int columns = run.graph.columns;
        std::vector<tf::Task> before(columns), current(columns);
        for (long step = from; step < to; step++) {
            for (int column = 0; column < columns; column++) {
                const Task* task = &run.graph.at(step, column);
                if (task->weight < 0) continue;
                Node* node = &nodes.emplace_back(Node{task, step, column});
                current[column] = flow.emplace([&executor, &run, node, by, columns, values] {
                    long step = node->step;
                    node->step += by;
                    for (int input : node->task->inputs)
                        run.input(step, input, values[(step - 1) * columns + input]);
                    values[step * columns + node->column] =
                        run.execute(step, node->column, *node->task, executor.this_worker_id());
                });
                if (step > from)
                    for (int input : task->inputs) current[column].succeed(before[input]);
            }
            std::swap(before, current);
        }
    }
};

int main() {
    int threads;
    if (std::scanf("%d", &threads) != 1) return 2;
    tf::Executor executor(threads);
    return serve(threads, [&](Run& run) {
        const Graph& graph = run.graph;
        std::vector<int64_t> values(run.steps * graph.columns);
        long prologue = std::min<long>(graph.prologue, run.steps);
        long cycles = (run.steps - prologue) / graph.period;
        long joined = std::min(cycles, std::max<long>(1, GRAPH / (graph.period * graph.columns)));
        long runs = joined == 0 ? 0 : cycles / joined;
        long by = joined * graph.period;
        auto once = [&](long from, long to) {
            if (from == to) return;
            Steps steps(executor, run, values.data(), from, to, 0);
            executor.run(steps.flow).wait();
        };
        once(0, prologue);
        if (runs > 0) {
            Steps steps(executor, run, values.data(), prologue, prologue + by, by);
            executor.run_n(steps.flow, runs).wait();
        }
        once(prologue + runs * by, run.steps);
    });
}
