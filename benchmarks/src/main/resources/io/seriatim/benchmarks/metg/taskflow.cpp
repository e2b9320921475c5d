// Taskflow has no read and write sets: a task is given the tasks that it reads. Each task has a place for its value.
#include "metg.h"
#include <taskflow/taskflow.hpp>

static const long AHEAD = 65536; // tasks, whose memory is bounded by a wait for all of them

int main() {
    int threads;
    if (std::scanf("%d", &threads) != 1) return 2;
    tf::Executor executor(threads);
    return serve(threads, [&](Run& run) {
        const Graph& graph = run.graph;
        int columns = graph.columns;
        std::vector<int64_t> memory(run.steps * columns);
        int64_t* values = memory.data();
        std::vector<tf::AsyncTask> before(columns), current(columns);
        std::vector<tf::AsyncTask> inputs(columns);
        long pushed = 0;
        for (long step = 0; step < run.steps; step++) {
            for (int column = 0; column < columns; column++) {
                const Task* task = &graph.at(step, column);
                if (task->weight < 0) continue;
                auto body = [&executor, &run, task, step, column, columns, values] {
                    for (int input : task->inputs) run.input(step, input, values[(step - 1) * columns + input]);
                    values[step * columns + column] = run.execute(step, column, *task, executor.this_worker_id());
                };
                pushed++;
                if (task->inputs.empty() && step > 0) { // a pattern without dependencies
                    executor.silent_async(body);
                    continue;
                }
                size_t n = 0;
                for (int input : task->inputs) inputs[n++] = before[input];
                current[column] = executor.silent_dependent_async(body, inputs.begin(), inputs.begin() + n);
            }
            std::swap(before, current);
            if (pushed > AHEAD) {
                executor.wait_for_all();
                pushed = 0;
            }
        }
        executor.wait_for_all();
    });
}
