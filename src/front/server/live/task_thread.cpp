#include "front/server/live/task_thread.h"

namespace edict::server {

TaskThread::TaskThread(LiveContext& context, Live& live, std::unique_ptr<Store> store)
    : context_(context),
      live_(live),
      engine_(context.model, context.settings.guard),
      store_(std::move(store)) {}

void TaskThread::start() {
  thread_ = std::thread([this] { run(); });
}

void TaskThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  came_.notify_all();
  thread_.join();
}

void TaskThread::post(std::function<void(Access)> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  came_.notify_one();
}

void TaskThread::run() {
  const Access access{engine_, *store_, live_};
  while (true) {
    std::function<void(Access)> task;
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, [&] { return !tasks_.empty() || stopping_; });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task(access);
    } catch (const std::exception&) {
      ++context_.counters.faults;  // of one question; the others must not suffer
    }
  }
}

}  // namespace edict::server
