using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace ParcelLockers
{
    // Runs tasks on a few threads of its own, in the order they came.
    public sealed class OwnThreadsScheduler : TaskScheduler
    {
        readonly BlockingCollection<Task> tasks = new BlockingCollection<Task>();

        public OwnThreadsScheduler(string name, int threads)
        {
            for (int n = 1; n <= threads; n++)
                new Thread(Run) { IsBackground = true, Name = name + " " + n }.Start();
        }

        void Run()
        {
            foreach (Task task in tasks.GetConsumingEnumerable())
                TryExecuteTask(task);
        }

        protected override void QueueTask(Task task) => tasks.Add(task);

        protected override bool TryExecuteTaskInline(Task task, bool queued) => false;

        protected override IEnumerable<Task> GetScheduledTasks() => tasks.ToArray();
    }
}
