{
  # Only for prebuildify (npm run prebuild). CMake does the work, so that loader and core are built in one way alone.
  "targets": [
    {
      "target_name": "core",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake-js",
          "inputs": ["CMakeLists.txt"],
          "outputs": ["build/Release/grpo-native.node"],
          "action": ["node", "bin/grpo-native.js", "setup", "--rebuild"]
        }
      ]
    }
  ]
}
